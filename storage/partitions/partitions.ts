import { LIMITS } from '../limits.js';
import type { Sql } from '../postgres/database.js';
import { recoverPartition } from './recovery.js';

/**
 * Which node owns which partition. A partition is free when its lease has run out by the database's clock. Invariants:
 * I1 at most one node holds the lease of a partition;
 * I2 taking a partition counts its epoch up, which fences every write of the former owner;
 * I3 the transaction that takes a partition recovers it: new owner, restarted thread and restarted process are one code path.
 */
export interface OwnedPartition {
  id: number;
  epoch: number;
}

/** Registers or renews this node, and renews the lease of everything it owns, in one statement. Returns what it owns. */
export async function renewLeases(db: Sql, nodeId: string, lease_ms: number): Promise<OwnedPartition[]> {
  return db.query<OwnedPartition>(
    'renewLeases',
    `with alive as (
       insert into node (id) values ($1) on conflict (id) do update set heartbeat_at = now()
     )
     update partition set lease_until = now() + $2 * interval '1 millisecond'
     where node_id = $1 and lease_until > now()
     returning id, epoch`,
    [nodeId, lease_ms],
  );
}

/** How many nodes have a heartbeat younger than a lease, this one included. */
export async function liveNodes(db: Sql, lease_ms: number): Promise<number> {
  const [row] = await db.query<{ nodes: number }>(
    'liveNodes',
    `select count(*)::int as nodes from node where heartbeat_at > now() - $1 * interval '1 millisecond'`,
    [lease_ms],
  );
  return row?.nodes ?? 0;
}

/**
 * Takes up to `limit` free partitions and recovers them (I2, I3). Concurrent claimers skip each other's rows (I1).
 * Run inside a transaction.
 */
export async function claimPartitions(
  tx: Sql,
  nodeId: string,
  limit: number,
  lease_ms: number,
): Promise<OwnedPartition[]> {
  const claimed = await tx.query<OwnedPartition>(
    'claimPartitions',
    `update partition p set node_id = $1, epoch = p.epoch + 1, lease_until = now() + $3 * interval '1 millisecond'
     from (select id from partition where lease_until <= now() order by id limit $2 for update skip locked) free
     where p.id = free.id
     returning p.id, p.epoch`,
    [nodeId, limit, lease_ms],
  );
  for (const { id } of claimed) await recoverPartition(tx, id);
  return claimed;
}

/** Takes partitions that this node owns again, under the next epoch: the thread that ran them is gone. In a transaction. */
export async function retakePartitions(
  tx: Sql,
  nodeId: string,
  ids: number[],
  lease_ms: number,
): Promise<OwnedPartition[]> {
  const taken = await tx.query<OwnedPartition>(
    'retakePartitions',
    `update partition set epoch = epoch + 1, lease_until = now() + $3 * interval '1 millisecond'
     where node_id = $1 and id = any($2) and lease_until > now()
     returning id, epoch`,
    [nodeId, ids, lease_ms],
  );
  for (const { id } of taken) await recoverPartition(tx, id);
  return taken;
}

/** Releases partitions at once (drain, levelling). The next claimer recovers them. */
export async function releasePartitions(db: Sql, nodeId: string, ids: number[]): Promise<void> {
  await db.query(
    'releasePartitions',
    `update partition set node_id = null, lease_until = '-infinity' where node_id = $1 and id = any($2)`,
    [nodeId, ids],
  );
}

/** Deletes a node that stops for good, and those that have been silent for `node_silence_ms`. */
export async function forgetNode(db: Sql, nodeId: string): Promise<void> {
  await db.query(
    'forgetNode',
    `delete from node where id = $1 or heartbeat_at < now() - $2 * interval '1 millisecond'`,
    [nodeId, LIMITS.node_silence_ms],
  );
}
