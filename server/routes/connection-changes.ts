import typia from 'typia';
import { PROVIDERS } from '../../actors/provider-traits.js';
import {
  cancelQueuedOperations,
  changeCredentials,
  clearSession,
  deleteConnection,
  disableSubscriptions,
  type LockedConnection,
  lockIdleConnection,
} from '../../storage/connections/connection-changes.js';
import { type ConnectionView, findConnections } from '../../storage/connections/connections.js';
import { HttpError } from '../../storage/model/errors.js';
import type { Sql } from '../../storage/postgres/database.js';
import { passwordContext } from '../../storage/secrets/sealing.js';
import { type Answer, invalidField, json, noContent } from '../http/answer.js';
import { LIMITS } from '../http/limits.js';
import { type Call, type Route, route, type Services } from '../http/route.js';
import { connectionJson, connectionSchema } from './connection-json.js';
import type { PasswordInput, RegionInput } from './connections.js';
import { connectionResource } from './resources.js';

/** New credentials; at least one of the two (CONN-4). */
export interface ConnectionPatchInput {
  password?: PasswordInput;
  region?: RegionInput;
}

export interface DisconnectedJson {
  health: 'needs_login';
}

/**
 * Runs `change` on the locked connection while no operation of it runs or waits, then signals its owner. Throws 409
 * `connection_busy` otherwise (CONN-5), 404 when it was deleted meanwhile.
 */
async function changeIdle(
  { db, system }: Services,
  connectionId: string,
  change: (tx: Sql, connection: LockedConnection) => Promise<void>,
): Promise<void> {
  await db.transaction(async (tx) => {
    const connection = await lockIdleConnection(tx, connectionId);
    if (!connection) throw new HttpError('not_found');
    if (connection === 'busy') throw new HttpError('connection_busy');
    await change(tx, connection);
  });
  system.hint({ type: 'connection', connectionId });
}

async function patch(call: Call<ConnectionView, ConnectionPatchInput, undefined>): Promise<Answer> {
  const { db, ring, resource, body } = call;
  if (body.password === undefined && body.region === undefined) throw invalidField('body', 'password or region');
  if (!PROVIDERS[resource.provider].signsIn) throw invalidField('body', 'a connection of provider social');
  const region = body.region?.toUpperCase() ?? null;
  // An unchanged region alone changes nothing, busy or not (CONN-4).
  if (body.password === undefined && region === resource.region) return json(200, connectionJson(resource));
  const passwordSealed = body.password === undefined ? null : ring.seal(body.password, passwordContext(resource.id));
  await changeIdle(call, resource.id, (tx) => changeCredentials(tx, resource.id, { passwordSealed, region }));
  const [row] = await findConnections(db, [resource.id]);
  if (!row) throw new HttpError('not_found');
  return json(200, connectionJson(row));
}

/** The answer is the same for a simulated connection, although that one stays ready (CONN-3). */
async function disconnect(call: Call<ConnectionView, undefined, undefined>): Promise<Answer> {
  await changeIdle(call, call.resource.id, async (tx, connection) => {
    await clearSession(tx, connection.id);
    await cancelQueuedOperations(tx, connection, 'connection_disconnected');
    await disableSubscriptions(tx, connection);
  });
  return json(200, { health: 'needs_login' } satisfies DisconnectedJson);
}

async function remove(call: Call<ConnectionView, undefined, undefined>): Promise<Answer> {
  await changeIdle(call, call.resource.id, async (tx, connection) => {
    // Cancelled first so that their jobs are deleted too.
    await cancelQueuedOperations(tx, connection, 'connection_deleted');
    await disableSubscriptions(tx, connection);
    await deleteConnection(tx, connection.id);
  });
  return noContent;
}

export const connectionChangeRoutes: Route[] = [
  route({
    method: 'PATCH',
    path: '/v1/connections/{connection_id}',
    summary: 'Change password or region; the connection must log in again',
    scopes: ['connections:write'],
    body: {
      kind: 'json',
      limit_bytes: LIMITS.body_bytes,
      validate: typia.createValidateEquals<ConnectionPatchInput>(),
      schema: typia.json.schemas<[ConnectionPatchInput]>(),
    },
    resource: connectionResource,
    answers: { 200: { description: 'The connection as it is now.', schema: connectionSchema } },
    refusals: ['connection_busy', 'encryption_key_unavailable'],
    handle: patch,
  }),
  route({
    method: 'POST',
    path: '/v1/connections/{connection_id}/disconnect',
    summary: 'Clear the session, cancel what waits, keep the history',
    scopes: ['connections:write'],
    body: { kind: 'none' },
    resource: connectionResource,
    answers: { 200: { description: 'Disconnected.', schema: typia.json.schemas<[DisconnectedJson]>() } },
    refusals: ['connection_busy'],
    handle: disconnect,
  }),
  route({
    method: 'DELETE',
    path: '/v1/connections/{connection_id}',
    summary: 'Delete the connection with its history',
    scopes: ['connections:write'],
    body: { kind: 'none' },
    resource: connectionResource,
    answers: { 204: { description: 'Deleted.' } },
    refusals: ['connection_busy'],
    handle: remove,
  }),
];
