import typia, { type IValidation, type tags } from 'typia';
import { v7 as uuidv7 } from 'uuid';
import type { Text } from '../../browser-pool/contract/fields.js';
import { isIdentityTaken } from '../../storage/connections/connection-changes.js';
import {
  findConnections,
  insertSimulatedConnection,
  insertSocialConnection,
  listConnections,
} from '../../storage/connections/connections.js';
import { HttpError } from '../../storage/model/errors.js';
import { partitionOf } from '../../storage/model/records.js';
import { passwordContext } from '../../storage/secrets/sealing.js';
import { type Answer, json } from '../http/answer.js';
import type { NonBlank, Printable } from '../http/fields.js';
import { LIMITS } from '../http/limits.js';
import { type Call, type Route, route } from '../http/route.js';
import { type ConnectionJson, connectionJson, connectionSchema } from './connection-json.js';
import { connectionResource } from './resources.js';

/** Two letters, any case (CONN-2). */
export type RegionInput = string & tags.Pattern<'^[A-Za-z]{2}$'>;
export type PasswordInput = Text<1, 1024> & NonBlank;

/** A real account (contract: "Connections", create-field rules). */
export interface NewSocialInput {
  provider: 'social';
  username: Text<1, 255> & NonBlank;
  /** Never returned. */
  password: PasswordInput;
  region: RegionInput;
}

/** A synthetic account, for testing. */
export interface NewSimulatedInput {
  provider: 'simulated';
  external_actor: SimulatedActorInput;
}

/** Who the synthetic account is; one connection each in a workspace. */
export interface SimulatedActorInput {
  kind: 'person' | 'installation';
  id: Printable<1, 255>;
}

export type NewConnectionInput = NewSocialInput | NewSimulatedInput;

/** Every connection of the workspace. */
export interface ConnectionsJson {
  connections: ConnectionJson[];
}

const validateSocial = typia.createValidateEquals<NewSocialInput>();
const validateSimulated = typia.createValidateEquals<NewSimulatedInput>();

/** By provider, so that an error names the field and not the union. */
function validateNew(input: unknown): IValidation<NewConnectionInput> {
  const { provider } = input as { provider?: unknown };
  if (provider === 'social') return validateSocial(input);
  if (provider === 'simulated') return validateSimulated(input);
  const error = { path: '$input.provider', expected: '"social" | "simulated"', value: provider };
  return { success: false, data: input, errors: [error] };
}

/** What makes two usernames the same account: trimmed and case-folded (CONN-1). */
export function identityKey(username: string): string {
  return username.trim().normalize('NFC').toUpperCase().toLowerCase();
}

async function list({ db, key }: Call<undefined, undefined, undefined>): Promise<Answer> {
  const rows = await listConnections(db, key.workspace_id);
  return json(200, { connections: rows.map(connectionJson) } satisfies ConnectionsJson);
}

async function create({ db, ring, key, body }: Call<undefined, NewConnectionInput, undefined>): Promise<Answer> {
  const id = uuidv7();
  const common = { id, workspaceId: key.workspace_id, partition: partitionOf(id) };
  try {
    if (body.provider === 'simulated') {
      await insertSimulatedConnection(db, { ...common, actor: body.external_actor });
    } else {
      await insertSocialConnection(db, {
        ...common,
        identityKey: identityKey(body.username),
        username: body.username.trim(),
        passwordSealed: ring.seal(body.password, passwordContext(id)),
        region: body.region.toUpperCase(),
      });
    }
  } catch (error) {
    throw isIdentityTaken(error) ? new HttpError('connection_conflict') : error;
  }
  const [row] = await findConnections(db, [id]);
  if (!row) throw new HttpError('not_found', 'the connection was deleted meanwhile');
  return json(201, connectionJson(row), { Location: `/v1/connections/${id}` });
}

export const connectionRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/v1/connections',
    summary: 'Every connection of the workspace, oldest first',
    scopes: ['connections:read'],
    body: { kind: 'none' },
    answers: { 200: { description: 'The connections.', schema: typia.json.schemas<[ConnectionsJson]>() } },
    handle: list,
  }),
  route({
    method: 'POST',
    path: '/v1/connections',
    summary: 'Create a connection',
    scopes: ['connections:write'],
    body: {
      kind: 'json',
      limit_bytes: LIMITS.body_bytes,
      validate: validateNew,
      schema: typia.json.schemas<[NewConnectionInput]>(),
    },
    answers: { 201: { description: 'The new connection.', schema: connectionSchema, headers: ['Location'] } },
    refusals: ['connection_conflict', 'encryption_key_unavailable'],
    handle: create,
  }),
  route({
    method: 'GET',
    path: '/v1/connections/{connection_id}',
    summary: 'One connection',
    scopes: ['connections:read'],
    body: { kind: 'none' },
    resource: connectionResource,
    answers: { 200: { description: 'The connection.', schema: connectionSchema } },
    handle: async ({ resource }) => json(200, connectionJson(resource)),
  }),
];
