import typia, { type IValidation, type tags } from 'typia';
import type { PasswordText, Text } from '../../../browser-pool/contract/fields.js';
import { isIdentityTaken } from '../../../storage/connections/connection-changes.js';
import {
  findConnections,
  insertSimulatedConnection,
  insertSocialConnection,
  listConnections,
} from '../../../storage/connections/connections.js';
import {
  type ConnectionFilter,
  listFilteredConnections,
  listReferencedConnections,
  NAMES_START,
  searchConnections,
} from '../../../storage/connections/filtered-connections.js';
import { HttpError } from '../../../storage/model/errors.js';
import { newId } from '../../../storage/model/new-id.js';
import { type Health, type Provider, partitionOf } from '../../../storage/model/records.js';
import type { Sql, Transaction } from '../../../storage/postgres/database.js';
import type { ListPlace } from '../../../storage/postgres/list-place.js';
import { passwordContext } from '../../../storage/secrets/sealing.js';
import { limitOf, roomForConnection } from '../../../storage/workspaces/limits.js';
import { type Answer, invalidField, json } from '../../http/answer.js';
import type { NonBlank, Printable } from '../../http/fields.js';
import { LIMITS } from '../../http/limits.js';
import { type Call, type Route, route } from '../../http/route.js';
import { listAnswer } from '../list-answer.js';
import { type CursorQuery, nameCursor, namePlaceOf } from '../paging.js';
import { connectionResource } from '../resources.js';
import type { NewNamesInput, Reference } from './client-names.js';
import { type ConnectionJson, connectionJson, connectionSchema } from './connection-json.js';

/** A region: two letters in any case (CONN-2). */
export type RegionInput = string & tags.Pattern<'^[A-Za-z]{2}$'>;
export type PasswordInput = PasswordText & NonBlank;

/** A real account, with its credentials (contract: "Connections"). */
export interface NewSocialInput extends NewNamesInput {
  /** Always `social`. */
  provider: 'social';
  /** Name that the account signs in with, up to 255 characters. */
  username: Text<1, 255> & NonBlank;
  /** Password that it signs in with, up to 1024 characters; it is stored encrypted and never returned. */
  password: PasswordInput;
  /** Region whose proxy the account uses. */
  region: RegionInput;
}

/** A synthetic account, for testing. */
export interface NewSimulatedInput extends NewNamesInput {
  /** Always `simulated`. */
  provider: 'simulated';
  /** Who the synthetic account is. */
  external_actor: SimulatedActorInput;
}

/** Who a synthetic account is; one connection each in a workspace. */
export interface SimulatedActorInput {
  /** What kind of actor it stands for: a `person`, or an `installation` of an application. */
  kind: 'person' | 'installation';
  /** Its id, 1 to 255 printable characters; triggers in it steer every operation of the connection. */
  id: Printable<1, 255>;
}

/** The account to connect: `provider` tells which of the two. */
export type NewConnectionInput = NewSocialInput | NewSimulatedInput;

/** Filters and paging of the list of connections. */
export interface ConnectionsQuery extends CursorQuery {
  /** Only connections with this health. */
  health?: Health;
  /** Only connections of this provider. */
  provider?: Provider;
  /**
   * Only the connection that has this text for its username, and simulated ones with which the id of their actor begins, in any case.
   * They are listed by these names, always in pages.
   */
  search?: Text<1, 255> & NonBlank;
  /** Only connections that you call so. */
  reference?: Reference;
  /** Only these, by their ids with commas between, up to 50; what is not of the workspace is left out. It stands alone. */
  ids?: Uuids;
}

type Uuids = string &
  tags.Pattern<'^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}(,[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}){0,49}$'>;

/** Every connection of the workspace, or a page of them. */
export interface ConnectionsJson {
  /** The connections, oldest first; with `search` in the order of their names. */
  connections: ConnectionJson[];
  /** With `limit`, `cursor` or `search` only: where the next page begins, null on the last one. */
  next_cursor?: string | null;
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

/** What makes two usernames the same account: trimmed and case-folded (CONN-1). First to small letters: a capital ẞ stays one, and ß becomes SS. */
export function identityKey(username: string): string {
  return username.trim().normalize('NFC').toLowerCase().toUpperCase().toLowerCase();
}

async function list({ db, key, query }: Call<undefined, undefined, ConnectionsQuery>): Promise<Answer> {
  const name = 'connections' satisfies keyof ConnectionsJson;
  const { provider = null, health = null, search, reference, ids } = query;
  if (ids !== undefined) return json(200, await named(db, key.workspace_id, query));
  const filter: ConnectionFilter = { workspaceId: key.workspace_id, provider, health };
  if (search !== undefined && reference !== undefined) throw invalidField('query.search', 'no search beside reference');
  if (search !== undefined) return json(200, await searched(db, filter, search, query));
  const read = (after: ListPlace, limit: number) => {
    if (reference !== undefined) return listReferencedConnections(db, filter, reference, after, limit);
    if (provider === null && health === null) return listConnections(db, key.workspace_id, after, limit);
    return listFilteredConnections(db, filter, after, limit);
  };
  return listAnswer({ name, read, show: connectionJson }, query);
}

/** Those that a page shows beside what it lists: one request for their names, however many rows. */
async function named(
  db: Sql,
  workspaceId: string,
  { ids = '', ...others }: ConnectionsQuery,
): Promise<ConnectionsJson> {
  const [other] = Object.keys(others);
  if (other !== undefined)
    throw invalidField(`query.${other}`, 'nothing beside ids', others[other as keyof typeof others]);
  const rows = await findConnections(db, ids.split(','));
  const own = rows.filter(({ workspace_id }) => workspace_id === workspaceId);
  return { connections: own.sort((a, b) => a.created_at.getTime() - b.created_at.getTime()).map(connectionJson) };
}

/** A page of those that were looked for by name. */
async function searched(
  db: Sql,
  filter: ConnectionFilter,
  search: string,
  { cursor, limit = LIMITS.page_rows }: CursorQuery,
): Promise<ConnectionsJson> {
  const after = cursor === undefined ? NAMES_START : namePlaceOf(cursor);
  const rows = await searchConnections(db, filter, identityKey(search), after, limit + 1);
  const page = rows.slice(0, limit);
  const last = rows.length > limit ? page.at(-1) : undefined;
  return { connections: page.map(connectionJson), next_cursor: last ? nameCursor(last) : null };
}

async function create(call: Call<undefined, NewConnectionInput, undefined>): Promise<Answer> {
  const { db, ring, key, limits, audit, body } = call;
  const id = newId();
  const names = { reference: body.reference ?? null, labels: body.labels ?? [] };
  const common = { id, workspaceId: key.workspace_id, partition: partitionOf(id), names };
  const bound = limitOf('connections', key.limits, limits);
  const insert = (tx: Transaction) =>
    body.provider === 'simulated'
      ? insertSimulatedConnection(tx, { ...common, actor: body.external_actor })
      : insertSocialConnection(tx, {
          ...common,
          identityKey: identityKey(body.username),
          username: body.username.trim(),
          passwordSealed: ring.seal(body.password, passwordContext(id)),
          region: body.region.toUpperCase(),
        });
  try {
    const row = await db.transaction(async (tx) => {
      const room = bound === null || (await roomForConnection(tx, key.workspace_id, bound));
      if (!room) throw new HttpError('too_many_connections');
      await insert(tx);
      await audit.record(tx, [['connection', id]], {
        details: { provider: body.provider, ...(body.reference !== undefined && { reference: body.reference }) },
      });
      const [created] = await findConnections(tx, [id]);
      if (!created) throw new HttpError('not_found');
      return created;
    });
    return json(201, connectionJson(row), { Location: `/v1/connections/${id}` });
  } catch (error) {
    throw isIdentityTaken(error) ? new HttpError('connection_conflict') : error;
  }
}

export const connectionRoutes: Route[] = [
  route({
    method: 'GET',
    operationId: 'listConnections',
    path: '/v1/connections',
    summary: 'List connections',
    description:
      'Lists the connections of the workspace in the order of their creation, of one health, one provider or one `reference` if you ask for it. Without `limit` and `cursor` it answers all of them. With `ids` it answers those. With `search` it lists the one of that username and simulated ones whose actor’s id begins with the text, by their names and page by page. No answer shows a username.',
    scopes: ['connections:read'],
    body: { kind: 'none' },
    query: {
      numbers: ['limit'],
      validate: typia.createValidateEquals<ConnectionsQuery>(),
      schema: typia.json.schemas<[ConnectionsQuery]>(),
    },
    answers: { 200: { description: 'The connections.', schema: typia.json.schemas<[ConnectionsJson]>() } },
    handle: list,
  }),
  route({
    method: 'POST',
    operationId: 'createConnection',
    audit: 'connection.create',
    path: '/v1/connections',
    summary: 'Create a connection',
    description:
      'Connects an account: a real one with its credentials, which `social.login` then signs in, or a synthetic one for testing, which is `ready` at once. An account has one connection in a workspace.',
    scopes: ['connections:write'],
    changes: 'connections',
    body: {
      kind: 'json',
      limit_bytes: LIMITS.body_bytes,
      validate: validateNew,
      schema: typia.json.schemas<[NewConnectionInput]>(),
    },
    answers: { 201: { description: 'The new connection.', schema: connectionSchema, headers: ['Location'] } },
    refusals: ['connection_conflict', 'too_many_connections', 'encryption_key_unavailable'],
    handle: create,
  }),
  route({
    method: 'GET',
    operationId: 'getConnection',
    path: '/v1/connections/{connection_id}',
    summary: 'Get a connection',
    description: 'Reads one connection with its health.',
    scopes: ['connections:read'],
    body: { kind: 'none' },
    resource: connectionResource,
    answers: { 200: { description: 'The connection.', schema: connectionSchema } },
    handle: async ({ resource }) => json(200, connectionJson(resource)),
  }),
];
