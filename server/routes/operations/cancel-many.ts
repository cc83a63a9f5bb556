import typia from 'typia';
import type { CapabilityName } from '../../../actors/capabilities/catalogue.js';
import { LIMITS as STORAGE_LIMITS } from '../../../storage/limits.js';
import {
  cancelQueued,
  type OpenMailbox,
  openMailboxes,
  type QueuedFilter,
} from '../../../storage/operations/cancel-queued.js';
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

/**
 * Slice by slice, each a transaction with its entry of the audit log, until nothing is left or the time for it is over. What begins meanwhile is
 * left as it is.
 */
async function cancelMany(call: Call<undefined, CancelManyInput, undefined>): Promise<Answer> {
  const { db, key, body } = call;
  if (Object.keys(body).length === 0) throw invalidField('body', 'at least one of what operations are chosen by');
  const filter: QueuedFilter = {
    workspaceId: key.workspace_id,
    connectionId: body.connection_id ?? null,
    reference: body.reference ?? null,
    capability: body.capability ?? null,
    createdAfter: body.created_after === undefined ? null : momentAt('body.created_after', body.created_after),
    createdBefore: body.created_before === undefined ? null : momentAt('body.created_before', body.created_before),
  };
  const until = performance.now() + LIMITS.cancel_many_ms;
  const over = () => performance.now() > until;
  let canceled = 0;
  for (let after: string | null = START; after !== null; ) {
    const page = await openMailboxes(db, filter, after, STORAGE_LIMITS.removal_rows);
    for (const mailbox of page.mailboxes) {
      const ended = await cancelMailbox(call, mailbox, filter, over);
      canceled += ended.canceled;
      if (ended.more) return json(200, { canceled, more: true } satisfies CanceledJson);
    }
    after = page.last;
    if (after !== null && over()) return json(200, { canceled, more: true } satisfies CanceledJson);
  }
  return json(200, { canceled, more: false } satisfies CanceledJson);
}

/** One slice at least; `more` when it was over before the end of the mailbox. */
async function cancelMailbox(
  { db, audit, ended }: Call<undefined, CancelManyInput, undefined>,
  mailbox: OpenMailbox,
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
