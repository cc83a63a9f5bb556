import typia, { type tags } from 'typia';
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
import { type SlicePlace, sliceCursor, slicePlaceOf } from '../paging.js';

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
  /** `next_cursor` of the answer before: it goes on from there. */
  cursor?: string & tags.MaxLength<512>;
}

/** How far it came. */
export interface CanceledJson {
  /** How many operations were canceled by this request. */
  canceled: Count;
  /** Null when it has seen all; else it ran out of time: send the same again with it as `cursor`. */
  next_cursor: string | null;
}

/** Before every id. */
const START = '00000000-0000-0000-0000-000000000000';

const BEGINNING: SlicePlace = { behind: LIST_START, mailbox: START, operation: START };

/** A connection that is chosen; without a place when it is the only one. */
type Chosen = MailboxOf & { place?: ListPlace };

/** A page of the connections that are chosen, behind `after`. */
async function connectionsOf(
  { db, key, body }: Call<undefined, CancelManyInput, undefined>,
  after: ListPlace,
): Promise<{ connections: Chosen[]; next: ListPlace | null }> {
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
  const connections = rows.map(({ id, partition, created_us }) => ({ id, partition, place: { created_us, id } }));
  return {
    connections,
    next: rows.length < STORAGE_LIMITS.removal_connections ? null : (connections.at(-1)?.place ?? null),
  };
}

/**
 * Slice by slice, each a transaction with its entry of the audit log, until all was seen or the time for it is over: one slice at least, so that
 * whoever follows `next_cursor` comes to the end. What begins meanwhile is left as it is.
 */
async function cancelMany(call: Call<undefined, CancelManyInput, undefined>): Promise<Answer> {
  const { db, body } = call;
  const { cursor, ...chosenBy } = body;
  if (Object.keys(chosenBy).length === 0) throw invalidField('body', 'at least one of what operations are chosen by');
  const from = cursor === undefined ? BEGINNING : slicePlaceOf(cursor);
  const filter: QueuedFilter = {
    capability: body.capability ?? null,
    createdAfter: body.created_after === undefined ? null : momentAt('body.created_after', body.created_after),
    createdBefore: body.created_before === undefined ? null : momentAt('body.created_before', body.created_before),
  };
  const until = performance.now() + LIMITS.cancel_many_ms;
  const over = () => performance.now() > until;
  let canceled = 0;
  for (let behind: ListPlace | null = from.behind; behind !== null; ) {
    const page: Awaited<ReturnType<typeof connectionsOf>> = await connectionsOf(call, behind);
    const held = new Set((await withMailboxes(db, page.connections)).map(({ id }) => id));
    for (const mailbox of page.connections.filter(({ id }) => held.has(id))) {
      const after = mailbox.id === from.mailbox ? from.operation : START;
      const ended = await cancelMailbox(call, mailbox, filter, after, over);
      canceled += ended.canceled;
      if (ended.left !== null) return answer(canceled, { behind, mailbox: mailbox.id, operation: ended.left });
      if (!mailbox.place) break; // the only one
      behind = mailbox.place;
      if (over()) return answer(canceled, { ...BEGINNING, behind });
    }
    behind = page.next;
    if (behind !== null && over()) return answer(canceled, { ...BEGINNING, behind });
  }
  return answer(canceled, null);
}

const answer = (canceled: number, next: SlicePlace | null): Answer =>
  json(200, { canceled, next_cursor: next && sliceCursor(next) } satisfies CanceledJson);

/** One slice at least. `left`: the operation behind which it goes on; null at the end of the mailbox. */
async function cancelMailbox(
  { db, audit, ended }: Call<undefined, CancelManyInput, undefined>,
  mailbox: MailboxOf,
  filter: QueuedFilter,
  from: string,
  over: () => boolean,
): Promise<{ canceled: number; left: string | null }> {
  let canceled = 0;
  for (let after = from; ; ) {
    const slice = await db.transaction(async (tx) => {
      const done = await cancelQueued(tx, mailbox, filter, after, STORAGE_LIMITS.removal_rows);
      const details = { canceled: done.canceled.length };
      if (done.canceled.length > 0) await audit.record(tx, [['connection', mailbox.id]], { details });
      return done;
    });
    for (const operation of slice.canceled) ended(operation);
    canceled += slice.canceled.length;
    if (slice.last === null || over()) return { canceled, left: slice.last };
    after = slice.last;
  }
}

export const cancelManyRoutes: Route[] = [
  route({
    method: 'POST',
    operationId: 'cancelOperations',
    audit: 'operation.cancel_many',
    path: '/v1/operations/cancel',
    summary: 'Cancel the operations that have not begun',
    description:
      'Cancels the queued operations of the workspace that fit: of one connection, one `reference`, one capability, one time. What runs or waits for its user goes on. It answers after a few seconds at the latest; where `next_cursor` is not null send it again with that as `cursor`.',
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
