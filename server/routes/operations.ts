import typia, { type tags } from 'typia';
import { HttpError } from '../../storage/model/errors.js';
import type { OperationRow, OperationStatus } from '../../storage/model/records.js';
import { isSettled } from '../../storage/model/transitions.js';
import { listOperations } from '../../storage/operations/operations.js';
import { type Answer, invalidField } from '../http/answer.js';
import { pathId, type Uuid } from '../http/fields.js';
import { LIMITS } from '../http/limits.js';
import { type Call, type Route, route, type Services } from '../http/route.js';
import { answerWith, operationAnswer } from './operation-answer.js';
import { type OperationJson, operationSchema } from './operation-json.js';
import { operationResource } from './resources.js';

/** Filters and paging of the list of operations (OPS-15). */
export interface OperationsQuery {
  connection_id?: Uuid;
  status?: OperationStatus;
  /** `next_cursor` of the page before. */
  cursor?: string & tags.MaxLength<512>;
  limit?: number & tags.Type<'uint32'> & tags.Minimum<1> & tags.Maximum<typeof LIMITS.page_rows>;
}

/** A page of operations. */
export interface OperationsJson {
  operations: OperationJson[];
  next_cursor: string | null;
}

/**
 * The operation as soon as it is terminal or waits for the user, or as it is after `timeout_ms`, when the client went
 * away, or when the edge drains. Null when it was deleted meanwhile.
 */
export async function awaitSettled(
  { system, load, drain, gone }: Services & { gone(): Promise<void> },
  operation: OperationRow,
  timeout_ms: number,
): Promise<OperationRow | null> {
  if (isSettled(operation.status)) return operation;
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
    for (;;) {
      const left_ms = until - performance.now();
      // Requested before the row is read: one of the two sees a finish between them.
      const settled = stop || left_ms <= 0 ? null : system.awaitable(operation.id, left_ms);
      const current = await load.operation(operation.id);
      if (!current) return null;
      if (!settled || isSettled(current.status)) return current;
      await Promise.race([settled, interrupted.promise]);
    }
  } finally {
    forget();
  }
}

async function get(call: Call<OperationRow, undefined, undefined>): Promise<Answer> {
  const { resource, prefer } = call;
  if (prefer.wait_s === null) return operationAnswer(call.db, 200, resource);
  const operation = await awaitSettled(call, resource, prefer.wait_s * 1000);
  if (!operation) throw new HttpError('not_found');
  return operationAnswer(call.db, 200, operation, { 'Preference-Applied': `wait=${prefer.wait_s}` });
}

/** Opaque to callers: the id after which the next page begins. */
function cursorOf(id: string): string {
  return Buffer.from(id.replaceAll('-', ''), 'hex').toString('base64url');
}

function idOf(cursor: string): string {
  const hex = Buffer.from(cursor, 'base64url').toString('hex');
  const id = hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  if (pathId(id) === undefined || cursorOf(id) !== cursor)
    throw invalidField('query.cursor', 'next_cursor of a page', cursor);
  return id;
}

async function list({ db, key, query }: Call<undefined, undefined, OperationsQuery>): Promise<Answer> {
  const limit = query.limit ?? LIMITS.page_rows;
  const rows = await listOperations(db, {
    workspaceId: key.workspace_id,
    connectionId: query.connection_id ?? null,
    status: query.status ?? null,
    before: query.cursor === undefined ? null : idOf(query.cursor),
    limit: limit + 1,
  });
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  const next_cursor = rows.length > limit && last ? cursorOf(last.id) : null;
  return answerWith(db, 200, (show) => ({ operations: page.map(show), next_cursor }) satisfies OperationsJson);
}

export const operationRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/v1/operations',
    summary: 'Operations of the workspace, newest first',
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
    path: '/v1/operations/{operation_id}',
    summary: 'One operation; `Prefer: wait=N` waits for its end',
    scopes: ['operations:read'],
    body: { kind: 'none' },
    resource: operationResource,
    headers: { Prefer: ['wait'] },
    answers: { 200: { description: 'The operation.', schema: operationSchema, headers: ['Preference-Applied'] } },
    handle: get,
  }),
];
