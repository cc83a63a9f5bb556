import { LIMITS } from '../limits.js';
import type { EndedOperation } from '../model/ended-operation.js';
import type { Sql } from '../postgres/database.js';
import { quietPartitions } from './quiet.js';
import { recoverPartition } from './recovery.js';

/**
 * Which node owns which partition. A partition is free when its lease has run out by the database's clock. Invariants:
 * I1 at most one node holds the lease of a partition;
 * I2 taking a partition counts its epoch up, which fences every write of the former owner;
 * I3 the transaction that takes a partition recovers it: new owner, restarted thread and restarted process are one code path;
 * I4 a node renews what it knows that it owns: a row that only names it (the answer of its claim was lost, or its release
 *    failed) is one of `strayPartitions`, to be taken again or let go;
 * I5 a renewal waits for no lock: it takes rows FOR NO KEY UPDATE, which the FOR KEY SHARE of a fenced write does not hinder,
 *    and leaves out those that are locked.
 */
export interface OwnedPartition {
  id: number;
  epoch: number;
}

/** What a renewal found: `locked` is still this node's but was not renewed (I5), `lost` has another epoch or owner. */
export interface RenewedLease extends OwnedPartition {
  standing: 'renewed' | 'locked' | 'lost';
}

/**
 * Renews the leases of what this node knows that it owns (I4), each under the epoch that it knows. A lease that has run out
 * is renewed as well: nobody took the partition, or its epoch would be another. Registers the node, or renews its
 * heartbeat, unless it is not `counted` among those that share the partitions.
 */
export async function renewLeases(
  db: Sql,
  nodeId: string,
  lease_ms: number,
  owned: OwnedPartition[] = [],
  counted = true,
): Promise<RenewedLease[]> {
  return db.query<RenewedLease>(
    'renewLeases',
    `with alive as (
       insert into node (id) select $1::uuid where $5 on conflict (id) do update set heartbeat_at = now()
     ), asked as (
       select * from unnest($3::smallint[], $4::bigint[]) a(id, epoch)
     ), held as materialized (
       select p.id from partition p join asked a on a.id = p.id and a.epoch = p.epoch
       where p.node_id = $1 for no key update of p skip locked
     ), renewed as (
       update partition p set lease_until = now() + $2 * interval '1 millisecond'
       from held h where p.id = h.id returning p.id
     )
     select a.id, a.epoch, case
       when exists (select 1 from renewed r where r.id = a.id) then 'renewed'
       when exists (select 1 from partition p where p.id = a.id and p.epoch = a.epoch and p.node_id = $1) then 'locked'
       else 'lost' end as standing
     from asked a`,
    [nodeId, lease_ms, owned.map(({ id }) => id), owned.map(({ epoch }) => epoch), counted],
  );
}

/** How many nodes have a heartbeat younger than a lease. */
export async function liveNodes(db: Sql, lease_ms: number): Promise<number> {
  const [row] = await db.query<{ nodes: number }>(
    'liveNodes',
    `select count(*)::int as nodes from node where heartbeat_at > now() - $1 * interval '1 millisecond'`,
    [lease_ms],
  );
  return row?.nodes ?? 0;
}

/** The partitions that are free. */
export async function freePartitions(db: Sql): Promise<number[]> {
  const rows = await db.query<{ id: number }>(
    'freePartitions',
    'select id from partition where lease_until <= now() order by id',
  );
  return rows.map(({ id }) => id);
}

/** The partitions whose rows name this node, without those that it knows of (I4). */
export function strayPartitions(db: Sql, nodeId: string, known: number[]): Promise<OwnedPartition[]> {
  return db.query<OwnedPartition>(
    'strayPartitions',
    'select id, epoch from partition where node_id = $1 and id <> all($2) order by id',
    [nodeId, known],
  );
}

/** In this transaction no statement waits longer than this for a lock: then it fails, and everything is as before. */
export async function limitLockWaits(tx: Sql, wait_ms: number): Promise<void> {
  await tx.query('limitLockWaits', `select set_config('lock_timeout', $1, true)`, [`${wait_ms}ms`]);
}

/** Gets each operation that a recovery ended. Its transaction may still fail. */
export type OnEnded = (operation: EndedOperation) => void;

/**
 * Takes up to `limit` partitions that are free, and recovers them (I2, I3); with `ids`, only of these, and those as well that
 * name this node already. Leaves out rows that are locked: concurrent claimers skip each other's (I1). Where nothing is to be recovered, as
 * is seen under the locks, no more is asked. Run inside a transaction.
 */
export async function claimPartitions(
  tx: Sql,
  nodeId: string,
  limit: number,
  lease_ms: number,
  ids: number[] | null = null,
  onEnded: OnEnded = () => {},
): Promise<OwnedPartition[]> {
  const claimed = await tx.query<OwnedPartition>(
    'claimPartitions',
    `update partition p set node_id = $1, epoch = p.epoch + 1, lease_until = now() + $3 * interval '1 millisecond'
     from (select id from partition
       where ($4::smallint[] is null or id = any($4)) and (lease_until <= now() or (node_id = $1 and id = any($4)))
       order by id limit $2 for update skip locked) free
     where p.id = free.id
     returning p.id, p.epoch`,
    [nodeId, limit, lease_ms, ids],
  );
  if (claimed.length === 0) return [];
  const quiet = new Set(
    await quietPartitions(
      tx,
      claimed.map(({ id }) => id),
    ),
  );
  for (const { id } of claimed) if (!quiet.has(id)) (await recoverPartition(tx, id)).ended.forEach(onEnded);
  return claimed;
}

/**
 * Takes partitions that this node owns again, under the next epoch: the thread that ran them is gone; or, with `inHand`, what their
 * rows show is in doubt, and all but these operations is recovered. Waits for the fenced writes under way. In a transaction.
 */
export async function retakePartitions(
  tx: Sql,
  nodeId: string,
  ids: number[],
  lease_ms: number,
  inHand?: string[],
  onEnded: OnEnded = () => {},
): Promise<OwnedPartition[]> {
  const taken = await tx.query<OwnedPartition>(
    'retakePartitions',
    `update partition set epoch = epoch + 1, lease_until = now() + $3 * interval '1 millisecond'
     where node_id = $1 and id = any($2)
     returning id, epoch`,
    [nodeId, ids, lease_ms],
  );
  for (const { id } of taken) (await recoverPartition(tx, id, inHand)).ended.forEach(onEnded);
  return taken;
}

/** Lets the leases of partitions taken in this transaction begin now: their recovery may have taken long. */
export async function beginLeases(tx: Sql, ids: number[], lease_ms: number): Promise<void> {
  await tx.query(
    'beginLeases',
    `update partition set lease_until = clock_timestamp() + $2 * interval '1 millisecond' where id = any($1)`,
    [ids, lease_ms],
  );
}

/** Releases partitions at once (drain, levelling), each if it is held under this epoch. The next claimer recovers them. */
export async function releasePartitions(db: Sql, nodeId: string, owned: OwnedPartition[]): Promise<void> {
  await db.query(
    'releasePartitions',
    `update partition p set node_id = null, lease_until = '-infinity'
     from unnest($2::smallint[], $3::bigint[]) r(id, epoch)
     where p.id = r.id and p.epoch = r.epoch and p.node_id = $1`,
    [nodeId, owned.map(({ id }) => id), owned.map(({ epoch }) => epoch)],
  );
}

/** Deletes a node that stops for good, null: none, and those that have been silent for `node_silence_ms`. */
export async function forgetNode(db: Sql, nodeId: string | null): Promise<void> {
  await db.query(
    'forgetNode',
    `delete from node where id = $1 or heartbeat_at < now() - $2 * interval '1 millisecond'`,
    [nodeId, LIMITS.node_silence_ms],
  );
}
