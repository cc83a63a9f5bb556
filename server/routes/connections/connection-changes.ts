import typia from 'typia';
import { PROVIDERS } from '../../../actors/provider-traits.js';
import {
  changeCredentials,
  clearSession,
  type LockedConnection,
  lockIdleConnection,
  markDeleted,
} from '../../../storage/connections/connection-changes.js';
import { type ConnectionView, findConnections } from '../../../storage/connections/connections.js';
import { type StoppingConnection, stopRest, stopWork } from '../../../storage/connections/stopping.js';
import { LIMITS as STORAGE_LIMITS } from '../../../storage/limits.js';
import { HttpError } from '../../../storage/model/errors.js';
import type { Transaction } from '../../../storage/postgres/database.js';
import { passwordContext } from '../../../storage/secrets/sealing.js';
import { type Answer, invalidField, json, noContent } from '../../http/answer.js';
import { LIMITS } from '../../http/limits.js';
import { type Call, type Route, route, type Services } from '../../http/route.js';
import { connectionResource } from '../resources.js';
import { connectionJson, connectionSchema } from './connection-json.js';
import type { PasswordInput, RegionInput } from './connections.js';

/** New credentials; at least one of the two (CONN-4). */
export interface ConnectionPatchInput {
  /** New password; any counts as a change. */
  password?: PasswordInput;
  /** New region; the present one alone changes nothing. */
  region?: RegionInput;
}

/** The connection has no session any more. */
export interface DisconnectedJson {
  /** Always `needs_login`. */
  health: 'needs_login';
}

/**
 * Runs `change` on the locked connection while no operation of it runs or waits, then signals its owner. Throws 409
 * `connection_busy` otherwise (CONN-5), 404 when it was deleted meanwhile, 503 when another transaction keeps it locked. Starts
 * of the connection wait for this transaction: it is short, and holds nothing but a bounded number of statements.
 */
export async function changeIdle<T>(
  { db, system }: Services,
  connectionId: string,
  change: (tx: Transaction, connection: LockedConnection) => Promise<T>,
): Promise<T> {
  const changed = await db.transaction(async (tx) => {
    const connection = await lockIdleConnection(tx, connectionId);
    if (!connection) throw new HttpError('not_found');
    if (connection === 'busy') throw new HttpError('connection_busy');
    if (connection === 'locked') throw new HttpError('unavailable', 'another change of the connection takes too long');
    return change(tx, connection);
  });
  system.hint({ type: 'connection', connectionId });
  return changed;
}

async function patch(call: Call<ConnectionView, ConnectionPatchInput, undefined>): Promise<Answer> {
  const { ring, resource, body } = call;
  if (body.password === undefined && body.region === undefined) throw invalidField('body', 'password or region');
  if (!PROVIDERS[resource.provider].signsIn) throw invalidField('body', 'a connection of provider social');
  const region = body.region?.toUpperCase() ?? null;
  // An unchanged region alone changes nothing, busy or not (CONN-4).
  if (body.password === undefined && region === resource.region) return json(200, connectionJson(resource));
  const passwordSealed = body.password === undefined ? null : ring.seal(body.password, passwordContext(resource.id));
  const row = await changeIdle(call, resource.id, async (tx) => {
    await changeCredentials(tx, resource.id, { passwordSealed, region });
    const details = { password: passwordSealed !== null, ...(region !== null && { region }) };
    await call.audit.record(tx, [['connection', resource.id]], { details });
    const [changed] = await findConnections(tx, [resource.id]);
    if (!changed) throw new HttpError('not_found');
    return changed;
  });
  return json(200, connectionJson(row));
}

/**
 * What is too much for one transaction is canceled in further ones before the answer; what takes longer than that, after it.
 */
async function disconnect(call: Call<ConnectionView, undefined, undefined>): Promise<Answer> {
  const stopping = await changeIdle(call, call.resource.id, async (tx, { id, partition }) => {
    const connection: StoppingConnection = { id, partition, reason: 'connection_disconnected' };
    await clearSession(tx, id);
    await call.audit.record(tx, [['connection', id]]);
    return (await stopWork(tx, connection)) ? null : connection;
  });
  const until = performance.now() + STORAGE_LIMITS.disconnect_ms;
  if (stopping) await stopRest(call.db, stopping, () => performance.now() > until);
  return json(200, { health: 'needs_login' } satisfies DisconnectedJson);
}

/** From the commit on the connection is hidden with everything that belongs to it; the rows go afterwards (CONN-7). */
async function remove(call: Call<ConnectionView, undefined, undefined>): Promise<Answer> {
  await changeIdle(call, call.resource.id, async (tx, { id, partition }) => {
    await markDeleted(tx, id);
    await call.audit.record(tx, [['connection', id]]);
    await stopWork(tx, { id, partition, reason: 'connection_deleted' });
  });
  return noContent;
}

export const connectionChangeRoutes: Route[] = [
  route({
    method: 'PATCH',
    operationId: 'updateConnection',
    audit: 'connection.update',
    path: '/v1/connections/{connection_id}',
    summary: 'Update the password or the region of a connection',
    description:
      'Stores new credentials of a real account. What changes ends the session: the connection is `needs_login` until `social.login` succeeds. The present region alone changes nothing.',
    scopes: ['connections:write'],
    changes: 'connections',
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
    operationId: 'disconnectConnection',
    audit: 'connection.disconnect',
    path: '/v1/connections/{connection_id}/disconnect',
    summary: 'Disconnect a connection',
    description:
      'Clears the session, stops the listener, deactivates subscriptions and cancels queued operations and waiting deliveries. The history stays.',
    scopes: ['connections:write'],
    changes: 'connections',
    body: { kind: 'none' },
    resource: connectionResource,
    answers: {
      200: { description: 'The connection has no session any more.', schema: typia.json.schemas<[DisconnectedJson]>() },
    },
    refusals: ['connection_busy'],
    handle: disconnect,
  }),
  route({
    method: 'DELETE',
    operationId: 'deleteConnection',
    audit: 'connection.delete',
    path: '/v1/connections/{connection_id}',
    summary: 'Delete a connection with its history',
    description:
      'Deletes the connection with its credentials, operations, events, subscriptions and deliveries. Idempotency keys that were used stay used.',
    scopes: ['connections:write'],
    changes: 'connections',
    body: { kind: 'none' },
    resource: connectionResource,
    answers: { 204: { description: 'The connection is gone.' } },
    refusals: ['connection_busy'],
    handle: remove,
  }),
];
