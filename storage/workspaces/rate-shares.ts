import { LIMITS } from '../limits.js';
import type { Sql, Transaction } from '../postgres/database.js';
import type { Rate } from './limits.js';

/** What a node is asked for by one workspace. */
export interface Demand {
  workspaceId: string;
  rate: Rate;
  /** A second. */
  asked: number;
  /** A second, of all nodes. */
  bound: number;
}

/** What of a rate is a node's. */
export interface Share {
  workspace_id: string;
  rate: Rate;
  /** Of the bound, from 0 to 1. */
  share: number;
  /** A second, of the other nodes. */
  elsewhere: number;
}

const SHARES_LOCK = 7_301_849;

/**
 * Notes what a node is asked for, and gives it its shares and the number of nodes that are alive.
 *
 * I1. A share grows only into what the others did not take when they last came: who is to get more waits until who has it gave it back, so
 *     that the sum stays within the bound. Deals take turns (`TURN`): two at once would both take what is free.
 * I2. While less is asked for than may be, what is left over is dealt out evenly, to nodes that were not asked too, by leaving it free.
 * I3. A node that was silent for `share_silence_ms` has no share. It is not counted as silent for a time in which this one was so too: after
 *     an outage of the database nobody takes what the others still use.
 * I4. Only rows of its own are written.
 *
 * Its time is that of the statement: the transaction began before it waited for its turn.
 */
const DEAL = `
  with mine as materialized (
    select * from unnest($2::uuid[], $3::text[], $4::float8[], $5::float8[]) m(workspace_id, rate, asked, bound)
  ), alive as materialized (
    select count(*)::int as nodes from node where heartbeat_at > statement_timestamp() - $8 * interval '1 millisecond'
  ), others as materialized (
    select m.workspace_id, m.rate, m.asked, m.bound, o.asked as elsewhere, o.share as taken,
      greatest((select nodes from alive), 1 + o.nodes) as nodes
    from mine m
    left join workspace_rate own on own.workspace_id = m.workspace_id and own.rate = m.rate and own.node_id = $1
    cross join lateral (
      select coalesce(sum(s.asked), 0) as asked, coalesce(sum(s.share), 0) as share, count(s.*) as nodes from workspace_rate s
      where s.workspace_id = m.workspace_id and s.rate = m.rate and s.node_id <> $1
        and s.noted_at > least(statement_timestamp(), own.noted_at + ${LIMITS.share_ms} * interval '1 millisecond')
          - ${LIMITS.share_silence_ms} * interval '1 millisecond') o
  ), dealt as materialized (
    select workspace_id, rate, asked, elsewhere, greatest(0, least(1 - taken,
      case when asked + elsewhere >= bound then asked / (asked + elsewhere)
      else (asked + (bound - asked - elsewhere) / nodes) / bound end)) as share
    from others
  ), noted as (
    insert into workspace_rate as r (workspace_id, rate, node_id, asked, share, noted_at)
    select workspace_id, rate, $1, asked, share, statement_timestamp() from dealt
    on conflict (workspace_id, rate, node_id) do update
      set asked = excluded.asked, share = excluded.share, noted_at = excluded.noted_at
  ), gone as (
    delete from workspace_rate r using unnest($6::uuid[], $7::text[]) f(workspace_id, rate)
    where r.workspace_id = f.workspace_id and r.rate = f.rate and r.node_id = $1
  )
  select a.nodes, d.workspace_id, d.rate, d.share, d.elsewhere from alive a left join dealt d on true`;

/**
 * The lock of all deals, for the transaction. It is a statement of its own, so that the deal sees what it waited for. A deal holds it for
 * milliseconds, as its commit does not wait for the disk: after a crash of the database the deals of its last half second are made anew.
 */
const TURN = `select set_config('synchronous_commit', 'off', true), pg_advisory_xact_lock(${SHARES_LOCK})`;

/**
 * Waits for its turn as long as the pool's statements may wait for a lock. One statement then, whose cost is that of what is asked for.
 * `forgotten`: nobody asks for it here any more. Index: the primary key.
 */
export async function dealShares(
  tx: Transaction,
  nodeId: string,
  demands: readonly Demand[],
  forgotten: readonly Pick<Demand, 'workspaceId' | 'rate'>[],
  lease_ms: number,
): Promise<{ nodes: number; shares: Share[] }> {
  await tx.query('takeTurnToDeal', TURN, []);
  const rows = await tx.query<{ nodes: number } & (Share | { workspace_id: null })>('dealShares', DEAL, [
    nodeId,
    demands.map((d) => d.workspaceId),
    demands.map((d) => d.rate),
    demands.map((d) => d.asked),
    demands.map((d) => d.bound),
    forgotten.map((f) => f.workspaceId),
    forgotten.map((f) => f.rate),
    lease_ms,
  ]);
  return { nodes: rows[0]?.nodes ?? 0, shares: rows.filter((row) => row.workspace_id !== null) };
}

/** A node that stops leaves its shares to the others, null: none does; those of nodes that have been silent for `node_silence_ms` go. */
export async function leaveShares(sql: Sql, nodeId: string | null): Promise<void> {
  await sql.query(
    'leaveShares',
    `delete from workspace_rate where node_id = $1 or noted_at < now() - $2 * interval '1 millisecond'`,
    [nodeId, LIMITS.node_silence_ms],
  );
}
