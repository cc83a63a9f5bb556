import typia from 'typia';
import type { CapabilityName } from '../../../actors/capabilities/catalogue.js';
import type { AwaitedOperation } from '../../../actors/system.js';
import type { OperationErrorCode } from '../../../storage/model/error-codes.js';
import { HttpError } from '../../../storage/model/errors.js';
import type { OperationRow, OperationStatus } from '../../../storage/model/records.js';
import { isAwaitable } from '../../../storage/model/transitions.js';
import { listOperations } from '../../../storage/operations/operations.js';
import type { Answer } from '../../http/answer.js';
import { momentAt, type Printable, type Timestamp, type Uuid } from '../../http/fields.js';
import { UNCHANGED } from '../../http/fixed.js';
import { LIMITS } from '../../http/limits.js';
import { type Call, type Route, route, type Services } from '../../http/route.js';
import type { Reference } from '../connections/client-names.js';
import { type CursorQuery, cursorOf, idOf } from '../paging.js';
import { operationResource } from '../resources.js';
import { operationsAnswer, pollAnswer } from './operation-answer.js';
import { type OperationJson, operationSchema } from './operation-json.js';

/** Filters and paging of the list of operations (OPS-15). */
export interface OperationsQuery extends CursorQuery {
  /** Only operations of this connection. */
  connection_id?: Uuid;
  /** Only operations with this status. */
  status?: OperationStatus;
  /** Only operations of this capability. */
  capability?: CapabilityName;
  /** Only operations that failed with this code. */
  error_code?: OperationErrorCode;
  /** Only operations of connections that you call so. */
  reference?: Reference;
  /** Only the operation that was submitted with this `Idempotency-Key`. */
  idempotency_key?: Printable<1, 255>;
  /** Only operations created from then on. */
  created_after?: Timestamp;
  /** Only operations created before then. */
  created_before?: Timestamp;
  /**
   * Without it, or with `true`, the operations are whole, with the files that are results. With `false` the page is small: `result` of those that
   * succeeded and `evidence.look` are null; `GET /v1/operations/{operation_id}` has them.
   */
  results?: 'true' | 'false';
}

/** A page of operations. Of a filtered list it may be short, or empty, before the last one. */
export interface OperationsJson {
  /** The operations, newest first. */
  operations: OperationJson[];
  /** Where the next page begins; null on the last one. */
  next_cursor: string | null;
}

/** What a route that waits for an operation needs. */
export type WaitServices = Pick<Services, 'system' | 'drain' | 'parked'> & { gone(): Promise<void> };

/**
 * Asks `over` at each wake-up of the operation, whose row was read a moment ago, until it says so, for `timeout_ms` at most; shorter when the
 * client went away, or when the edge drains. It is asked once more at the end.
 */
export async function awaitWakeUps(
  { system, drain, gone, parked }: WaitServices,
  operation: AwaitedOperation,
  timeout_ms: number,
  over: () => Promise<boolean>,
): Promise<void> {
  const until = performance.now() + timeout_ms;
  const interrupted = Promise.withResolvers<void>();
  let stop = false;
  const interrupt = () => {
    stop = true;
    interrupted.resolve();
  };
  const forget = drain.onBegin(interrupt);
  void gone().then(interrupt);
  try {
    for (let after = 0; ; ) {
      const left_ms = until - performance.now();
      if (stop || left_ms <= 0) return;
      await parked(Promise.race([system.awaitable(operation, after, left_ms), interrupted.promise]));
      after = system.wakeUps; // before the rows are read: one of the two sees a change between them
      if (await over()) return;
    }
  } finally {
    forget();
  }
}

/**
 * The operation as soon as it is terminal or waits for the user, or as it is after `timeout_ms`, when the client went
 * away, or when the edge drains. Null when it was deleted meanwhile.
 */
export async function awaitSettled(
  services: WaitServices & Pick<Services, 'load'>,
  operation: OperationRow,
  timeout_ms: number,
): Promise<OperationRow | null> {
  let current: OperationRow | undefined = operation;
  if (isAwaitable(operation.status)) return operation;
  await awaitWakeUps(services, operation, timeout_ms, async () => {
    current = await services.load.operation(operation.id);
    return !current || isAwaitable(current.status);
  });
  return current ?? null;
}

async function get(call: Call<OperationRow, undefined, undefined>): Promise<Answer> {
  const { resource, prefer, audit } = call;
  await audit.reveal([['operation', resource.id]]);
  const ifNoneMatch = call.headers['if-none-match'];
  if (prefer.wait_s === null) return pollAnswer(call.db, resource, ifNoneMatch);
  const operation = await awaitSettled(call, resource, prefer.wait_s * 1000);
  if (!operation) throw new HttpError('not_found');
  return pollAnswer(call.db, operation, ifNoneMatch, { 'Preference-Applied': `wait=${prefer.wait_s}` });
}

function momentIn(query: OperationsQuery, name: 'created_after' | 'created_before'): Date | null {
  const text = query[name];
  return text === undefined ? null : momentAt(`query.${name}`, text);
}

async function list({ db, key, query, audit }: Call<undefined, undefined, OperationsQuery>): Promise<Answer> {
  const limit = query.limit ?? LIMITS.page_rows;
  const { operations, lookedTo } = await listOperations(db, {
    workspaceId: key.workspace_id,
    connectionId: query.connection_id ?? null,
    status: query.status ?? null,
    capability: query.capability ?? null,
    errorCode: query.error_code ?? null,
    reference: query.reference ?? null,
    idempotencyKey: query.idempotency_key ?? null,
    createdAfter: momentIn(query, 'created_after'),
    createdBefore: momentIn(query, 'created_before'),
    before: query.cursor === undefined ? null : idOf(query.cursor),
    limit: limit + 1,
    results: query.results !== 'false',
    look: LIMITS.looked_at_operations,
  });
  const page = operations.slice(0, limit);
  const next = operations.length > limit ? page.at(-1)?.id : lookedTo;
  const next_cursor = next ? cursorOf(next) : null;
  if (query.results !== 'false') await audit.reveal(page.map(({ id }) => ['operation', id]));
  return operationsAnswer(db, page, next_cursor);
}

export const operationRoutes: Route[] = [
  route({
    method: 'GET',
    operationId: 'listOperations',
    revealed: 'operation.reveal',
    path: '/v1/operations',
    summary: 'List operations',
    description:
      'Lists operations of the workspace: of one connection, one `reference`, one status, one capability, one error, one time or one idempotency key if you ask for it. Follow `next_cursor` until it is null.',
    scopes: ['operations:read'],
    body: { kind: 'none' },
    query: {
      numbers: ['limit'],
      validate: typia.createValidateEquals<OperationsQuery>(),
      schema: typia.json.schemas<[OperationsQuery]>(),
    },
    answers: { 200: { description: 'A page of operations.', schema: typia.json.schemas<[OperationsJson]>() } },
    handle: list,
  }),
  route({
    method: 'GET',
    operationId: 'getOperation',
    revealed: 'operation.reveal',
    path: '/v1/operations/{operation_id}',
    summary: 'Get an operation, or wait for its end',
    description:
      'Reads one operation. `Prefer: wait=N` answers as soon as it has ended or waits for its user, so that nobody has to ask in a loop. The answer to an operation that has ended carries an `ETag`: send it back in `If-None-Match` for a 304 without a body while nothing has changed.',
    scopes: ['operations:read'],
    body: { kind: 'none' },
    resource: operationResource,
    headers: { Prefer: ['wait'], 'If-None-Match': 'optional' },
    waits: ({ wait_s }) => wait_s !== null && wait_s > 0,
    answers: {
      200: { description: 'The operation.', schema: operationSchema, headers: ['ETag', 'Preference-Applied'] },
      304: UNCHANGED,
    },
    handle: get,
  }),
];
