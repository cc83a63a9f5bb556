import typia from 'typia';
import type { Scope } from '../../../storage/model/records.js';
import type { ListPlace } from '../../../storage/postgres/list-place.js';
import { type ApiKeyRow, listKeys } from '../../../storage/workspaces/keys.js';
import type { Answer } from '../../http/answer.js';
import type { Timestamp, Uuid } from '../../http/fields.js';
import { type Call, type Route, route } from '../../http/route.js';
import { listAnswer } from '../list-answer.js';
import type { CursorQuery } from '../paging.js';

/** Every key of the workspace, or a page of them. */
export interface KeysJson {
  /** The keys, oldest first, revoked and expired ones too. */
  keys: KeyJson[];
  /** With `limit` or `cursor` only: where the next page begins, null on the last one. */
  next_cursor?: string | null;
}

/** A key of a workspace; its text was shown when it was made, and is nowhere kept. */
export interface KeyJson {
  /** Id of the key. */
  id: Uuid;
  /** What people call it; null when it has no name. */
  name: string | null;
  /** How it begins, by which people tell it. */
  prefix: string;
  /** What may be done with it. */
  scopes: Scope[];
  /** Networks from which it may be used; null: from anywhere. */
  networks: string[] | null;
  /** When it was made. */
  created_at: Timestamp;
  /** When it was last used, to a minute; null when it never was. */
  last_used_at: Timestamp | null;
  /** The address that it was last used from; null when it never was. */
  last_used_from: string | null;
  /** When it expires, or expired; null when it does not expire. */
  expires_at: Timestamp | null;
  /** When it was revoked; null when it was not. */
  revoked_at: Timestamp | null;
  /** Whether it is the one that asks. */
  current: boolean;
}

const keyJson = (row: ApiKeyRow, askedWith: string): KeyJson => ({
  ...{ id: row.id, name: row.name, prefix: row.prefix, scopes: row.scopes, networks: row.networks },
  created_at: row.created_at.toISOString(),
  last_used_at: row.last_used_at?.toISOString() ?? null,
  last_used_from: row.last_used_from,
  expires_at: row.expires_at?.toISOString() ?? null,
  revoked_at: row.revoked_at?.toISOString() ?? null,
  current: row.id === askedWith,
});

async function list({ db, key, query }: Call<undefined, undefined, CursorQuery>): Promise<Answer> {
  const name = 'keys' satisfies keyof KeysJson;
  const read = (after: ListPlace, limit: number) => listKeys(db, key.workspace_id, after, limit);
  return listAnswer({ name, read, show: (row) => keyJson(row, key.id) }, query);
}

export const keyRoutes: Route[] = [
  route({
    method: 'GET',
    operationId: 'listKeys',
    path: '/v1/keys',
    summary: 'List API keys',
    description:
      'Lists the keys of the workspace in the order of their creation, without what they are written as. Without `limit` and `cursor` it answers all of them.',
    scopes: ['connections:write'],
    body: { kind: 'none' },
    query: {
      numbers: ['limit'],
      validate: typia.createValidateEquals<CursorQuery>(),
      schema: typia.json.schemas<[CursorQuery]>(),
    },
    answers: { 200: { description: 'The keys.', schema: typia.json.schemas<[KeysJson]>() } },
    handle: list,
  }),
];
