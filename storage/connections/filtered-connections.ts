import type { Health, Provider } from '../model/records.js';
import type { Sql } from '../postgres/database.js';
import { isBehind, type ListPlace, placeIn, placeOfRow } from '../postgres/list-place.js';
import { type ConnectionView, VIEW } from './connections.js';

/** Which connections of a workspace are listed. */
export interface ConnectionFilter {
  workspaceId: string;
  provider: Provider | null;
  health: Health | null;
}

/** Where a connection stands among those that were looked for by name. */
export interface NamePlace {
  /** The beginning of its name, in lower case. */
  name: string;
  id: string;
}

/** Before every name. */
export const NAMES_START: NamePlace = { name: '', id: '00000000-0000-0000-0000-000000000000' };

/** What people know it by, in lower case: as the index has it, and whole. */
const WHOLE_NAME = `case c.provider when 'social' then c.identity_key else lower(c.actor_id) end`;
const NAME = `left(${WHOLE_NAME}, 60) collate "C"`;

const PROVIDERS = ['social', 'simulated'] satisfies Provider[];
const HEALTHS = ['ready', 'needs_login', 'invalid'] satisfies Health[];

/**
 * The first rows behind `place` of each provider and health that fits, of which the caller takes the first: an index has each of these in
 * `order`. So a page reads its own rows a few times at most, however many connections there are and however rare those are that fit.
 * Comparisons of whole rows name the index: with equalities the planner takes one that is in order but knows nothing of the filter.
 */
const firstOfEach = (columns: string, order: string, place: string, limit: string, more = '') => `
  select ${columns} from unnest($2::text[]) of_provider, unnest($3::text[]) of_health, lateral (
    select c.* from connection c
    where (c.workspace_id, c.provider, c.health, ${order}) > ($1, of_provider, of_health, ${place})
      and (c.workspace_id, c.provider, c.health) <= ($1, of_provider, of_health) and c.deleted_at is null ${more}
    order by c.workspace_id, c.provider, c.health, ${order} limit ${limit}
  ) c left join regional_proxy p on p.id = c.proxy_id order by ${order} limit ${limit}`;

const chosen = ({ workspaceId, provider, health }: ConnectionFilter) => [
  workspaceId,
  provider === null ? PROVIDERS : [provider],
  health === null ? HEALTHS : [health],
];

/** Those that fit in order of creation, `limit` of them behind `after`. Index: connection_by_health. */
export function listFilteredConnections(
  sql: Sql,
  filter: ConnectionFilter,
  after: ListPlace,
  limit: number,
): Promise<(ConnectionView & ListPlace)[]> {
  return sql.query<ConnectionView & ListPlace>(
    'listFilteredConnections',
    firstOfEach(`${VIEW}, ${placeOfRow('c')}`, 'c.created_at, c.id', placeIn('$4', '$5'), '$6'),
    [...chosen(filter), after.created_us, after.id, limit],
  );
}

/**
 * Those of the workspace that a client calls so, and that fit, in order of creation, `limit` of them behind `after`. Index:
 * connection_by_reference.
 */
export function listReferencedConnections(
  sql: Sql,
  { workspaceId, provider, health }: ConnectionFilter,
  reference: string,
  after: ListPlace,
  limit: number,
): Promise<(ConnectionView & ListPlace)[]> {
  return sql.query<ConnectionView & ListPlace>(
    'listReferencedConnections',
    `select ${VIEW}, ${placeOfRow('c')} from connection c left join regional_proxy p on p.id = c.proxy_id
     where c.workspace_id = $1 and c.reference = $2 and c.deleted_at is null and ${isBehind('c', '$3', '$4')}
       and c.provider = any($6) and c.health = any($7)
     order by c.created_at, c.id limit $5`,
    [
      ...[workspaceId, reference, after.created_us, after.id, limit],
      ...[provider === null ? PROVIDERS : [provider], health === null ? HEALTHS : [health]],
    ],
  );
}

/**
 * Those that fit and have `text` for their username, or are simulated and have an actor whose id begins with it, in the order of these
 * names, `limit` of them behind `after`. `text` is in lower case. A username is a credential: its beginning finds nothing, or it could be
 * found out letter by letter. Index: connection_by_name.
 */
export function searchConnections(
  sql: Sql,
  filter: ConnectionFilter,
  text: string,
  after: NamePlace,
  limit: number,
): Promise<(ConnectionView & NamePlace)[]> {
  // With the last of all characters it stands behind every name that begins with it; a username stands where it is itself.
  const more = `and (c.workspace_id, c.provider, c.health, ${NAME}) <=
        ($1, of_provider, of_health, left($6::text, 60) || case of_provider when 'social' then '' else chr(1114111) end)
      and case of_provider when 'social' then c.identity_key = $6 else starts_with(lower(c.actor_id), $6) end`;
  const place = `greatest($4::text collate "C", left($6, 60)), $5::uuid`;
  return sql.query<ConnectionView & NamePlace>(
    'searchConnections',
    firstOfEach(`${VIEW}, ${NAME} as name`, `${NAME}, c.id`, place, '$7', more),
    [...chosen(filter), after.name, after.id, text, limit],
  );
}
