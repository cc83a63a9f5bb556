import typia from 'typia';
import type { CapabilityName } from '../../../actors/capabilities/catalogue.js';
import { findConnections, listConnections } from '../../../storage/connections/connections.js';
import { listReferencedConnections } from '../../../storage/connections/filtered-connections.js';
import { LIMITS as STORAGE_LIMITS } from '../../../storage/limits.js';
import {
  cancelQueued,
  type MailboxOf,
  type QueuedFilter,
  withMailboxes,
} from '../../../storage/operations/cancel-queued.js';
import { LIST_START, type ListPlace } from '../../../storage/postgres/list-place.js';
import { type Answer, invalidField, json } from '../../http/answer.js';
import { type Count, momentAt, type Timestamp, type Uuid } from '../../http/fields.js';
import { LIMITS } from '../../http/limits.js';
import { type Call, type Route, route } from '../../http/route.js';
import type { Reference } from '../connections/client-names.js';

/** Which operations that have not begun are canceled: those to which all that is given applies. At least one is given. */
export interface CancelManyInput {
  /** Those of this connection. */
  connection_id?: Uuid;
  /** Those of connections that you call so. */
  reference?: Reference;
  /** Those of this capability. */
  capability?: CapabilityName;
  /** Those created from then on. */
  created_after?: Timestamp;
  /** Those created before then. */
  created_before?: Timestamp;
}

/** How far it came. */
export interface CanceledJson {
  /** How many operations were canceled. */
  canceled: Count;
  /** True when it ran out of time before it had seen all: ask again. */
  more: boolean;
}

/** Before every id. */
const START = '00000000-0000-0000-0000-000000000000';

/** A page of the connections that are chosen, behind `after`. */
async function connectionsOf(
  { db, key, body }: Call<undefined, CancelManyInput, undefined>,
  after: ListPlace,
): Promise<{ connections: MailboxOf[]; next: ListPlace | null }> {
  const { connection_id, reference } = body;
  if (connection_id !== undefined) {
    const found = await findConnections(db, [connection_id]);
    const own = found.filter(({ workspace_id }) => workspace_id === key.workspace_id);
    return { connections: own.filter((one) => reference === undefined || one.reference === reference), next: null };
  }
  const filter = { workspaceId: key.workspace_id, provider: null, health: null };
  const rows =
    reference === undefined
      ? await listConnections(db, key.workspace_id, after, STORAGE_LIMITS.removal_connections)
      : await listReferencedConnections(db, filter, reference, after, STORAGE_LIMITS.removal_connections);
  return { connections: rows, next: rows.length < STORAGE_LIMITS.removal_connections ? null : (rows.at(-1) ?? null) };
}

/**
 * Slice by slice, each a transaction with its entry of the audit log, until nothing is left or the time for it is over. What begins meanwhile is
 * left as it is.
 */
async function cancelMany(call: Call<undefined, CancelManyInput, undefined>): Promise<Answer> {
  const { db, body } = call;
  if (Object.keys(body).length === 0) throw invalidField('body', 'at least one of what operations are chosen by');
  const filter: QueuedFilter = {
    capability: body.capability ?? null,
    createdAfter: body.created_after === undefined ? null : momentAt('body.created_after', body.created_after),
    createdBefore: body.created_before === undefined ? null : momentAt('body.created_before', body.created_before),
  };
  const until = performance.now() + LIMITS.cancel_many_ms;
  const over = () => performance.now() > until;
  let canceled = 0;
  for (let after: ListPlace | null = LIST_START; after !== null; ) {
    const page: Awaited<ReturnType<typeof connectionsOf>> = await connectionsOf(call, after);
    for (const mailbox of await withMailboxes(db, page.connections)) {
      const ended = await cancelMailbox(call, mailbox, filter, over);
      canceled += ended.canceled;
      if (ended.more) return json(200, { canceled, more: true } satisfies CanceledJson);
    }
    after = page.next;
    if (after !== null && over()) return json(200, { canceled, more: true } satisfies CanceledJson);
  }
  return json(200, { canceled, more: false } satisfies CanceledJson);
}

/** One slice at least; `more` when it was over before the end of the mailbox. */
async function cancelMailbox(
  { db, audit, ended }: Call<undefined, CancelManyInput, undefined>,
  mailbox: MailboxOf,
  filter: QueuedFilter,
  over: () => boolean,
): Promise<CanceledJson> {
  let canceled = 0;
  for (let after: string | null = START; after !== null; ) {
    const from: string = after;
    const slice = await db.transaction(async (tx) => {
      const done = await cancelQueued(tx, mailbox, filter, from, STORAGE_LIMITS.removal_rows);
      const details = { canceled: done.canceled.length };
      if (done.canceled.length > 0) await audit.record(tx, [['connection', mailbox.id]], { details });
      return done;
    });
    for (const operation of slice.canceled) ended(operation);
    canceled += slice.canceled.length;
    after = slice.last;
    if (after !== null && over()) return { canceled, more: true };
  }
  return { canceled, more: over() };
}

export const cancelManyRoutes: Route[] = [
  route({
    method: 'POST',
    operationId: 'cancelOperations',
    audit: 'operation.cancel_many',
    path: '/v1/operations/cancel',
    summary: 'Cancel the operations that have not begun',
    description:
      'Cancels the queued operations of the workspace that fit: of one connection, one `reference`, one capability, one time. What runs or waits for its user goes on. It answers after a few seconds at the latest; with `more` ask again.',
    scopes: ['operations:write'],
    body: {
      kind: 'json',
      limit_bytes: LIMITS.body_bytes,
      validate: typia.createValidateEquals<CancelManyInput>(),
      schema: typia.json.schemas<[CancelManyInput]>(),
    },
    answers: { 200: { description: 'What was canceled.', schema: typia.json.schemas<[CanceledJson]>() } },
    handle: cancelMany,
  }),
];
