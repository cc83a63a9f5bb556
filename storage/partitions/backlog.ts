import type { Sql } from '../postgres/database.js';

/** Operations accepted and not ended, by the id of their workspace or connection. */
export type Backlog = ReadonlyMap<string, number>;

/**
 * Notes what this node has in hand, where it is much, and gives the sum of what the other nodes noted whose heartbeats are younger
 * than `lease_ms`. A node that is not counted notes nothing. The row is written only when something changed.
 */
export async function shareBacklog(db: Sql, nodeId: string, own: Backlog, lease_ms: number): Promise<Backlog> {
  const rows = await db.query<{ id: string; operations: number }>(
    'shareBacklog',
    `with noted as (
       update node set backlog = $2::jsonb where id = $1 and backlog <> $2::jsonb
     )
     select b.key as id, sum(b.value::bigint)::float8 as operations
     from node n cross join jsonb_each_text(n.backlog) b
     where n.id <> $1 and n.heartbeat_at > now() - $3 * interval '1 millisecond'
     group by b.key`,
    [nodeId, JSON.stringify(Object.fromEntries(own)), lease_ms],
  );
  return new Map(rows.map(({ id, operations }) => [id, operations]));
}
