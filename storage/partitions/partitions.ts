import { recoverDeliveries } from '../deliveries/deliveries.js';
import { transition } from '../model/transitions.js';
import type { Sql } from '../postgres/database.js';
import type { QueueKind } from '../postgres/jobs.js';
import { finishJobs, releaseJobs } from '../postgres/jobs.js';

/**
 * Who owns which partition. A partition is free when its lease has run out by the
 * database's clock. Taking one counts its epoch up, which fences every write of the former owner, and
 * recovers it in the same transaction: new owner, restarted thread and restarted process are one code path.
 */
export interface OwnedPartition {
  id: number;
  epoch: number;
}

/** Registers or renews this node, and renews the lease of everything it owns, in one statement. Gives what it owns. */
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

/** Nodes whose heartbeat is younger than a lease, this one included. */
export async function liveNodes(db: Sql, lease_ms: number): Promise<number> {
  const [row] = await db.query<{ nodes: number }>(
    'liveNodes',
    `select count(*)::int as nodes from node where heartbeat_at > now() - $1 * interval '1 millisecond'`,
    [lease_ms],
  );
  return row?.nodes ?? 0;
}

/**
 * Takes up to `limit` free partitions and recovers them. Concurrent claimers skip each other's rows.
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
  await recoverPartitions(tx, claimed);
  return claimed;
}

/** Takes partitions this node owns anew, under the next epoch: the thread that ran them is gone. In a transaction. */
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
  await recoverPartitions(tx, taken);
  return taken;
}

/** Gives partitions up at once (drain, levelling). The next claimer recovers them. */
export async function releasePartitions(db: Sql, nodeId: string, ids: number[]): Promise<void> {
  await db.query(
    'releasePartitions',
    `update partition set node_id = null, lease_until = '-infinity' where node_id = $1 and id = any($2)`,
    [nodeId, ids],
  );
}

/** Forgets a node that stops for good, and those silent for an hour. */
export async function forgetNode(db: Sql, nodeId: string): Promise<void> {
  await db.query('forgetNode', `delete from node where id = $1 or heartbeat_at < now() - interval '1 hour'`, [nodeId]);
}

// What was started and has not ended holds its connection's lease.
const LEASED = 'o.id in (select operation_id from lease where partition = any($1))';

/**
 * Settles what the former owner left: a write at or past `dispatching` becomes
 * `outcome_unknown`; waiting for the user becomes `failed worker_lost`; all else goes back to `queued`, its
 * attempt `abandoned`. Sending deliveries go back to pending. Fetched jobs are released.
 */
async function recoverPartitions(tx: Sql, partitions: OwnedPartition[]): Promise<void> {
  if (partitions.length === 0) return;
  const ids = partitions.map((p) => p.id);
  const at = new Date();
  const closeAttempt = (status: string) =>
    `jsonb_set(o.attempts, '{-1}', (o.attempts -> -1) || jsonb_build_object('status', '${status}', 'completed_at', $2::text))`;
  const ended = await tx.query<{ id: string; partition: number }>(
    'recoverPastBoundary',
    `update operation o set status = 'outcome_unknown', updated_at = now(), attempts = ${closeAttempt('outcome_unknown')},
       timeline = o.timeline || $3::jsonb
     where ${LEASED} and o.status = 'running' and o.attempts -> -1 ->> 'phase' in ('dispatching', 'confirming')
     returning o.id, o.partition`,
    [ids, at.toISOString(), JSON.stringify([transition('running', 'outcome_unknown', 'worker_lost', at)])],
  );
  const waiting = await tx.query<{ id: string; partition: number }>(
    'recoverWaiting',
    `update operation o set status = 'failed', error_code = 'worker_lost', error_details = '{"retryable":true}',
       challenge = null, updated_at = now(), attempts = ${closeAttempt('abandoned')}, timeline = o.timeline || $3::jsonb
     where ${LEASED} and o.status = 'waiting_user'
     returning o.id, o.partition`,
    [ids, at.toISOString(), JSON.stringify([transition('waiting_user', 'failed', 'worker_lost', at)])],
  );
  const unstarted = await tx.query<{ id: string; partition: number; status: string }>(
    'recoverUnstarted',
    `update operation o set status = case when o.cancel_requested then 'canceled' else 'queued' end,
       updated_at = now(), attempts = ${closeAttempt('abandoned')},
       timeline = o.timeline || case when o.cancel_requested then $4::jsonb else $3::jsonb end
     where ${LEASED} and o.status = 'running'
     returning o.id, o.partition, o.status`,
    [
      ids,
      at.toISOString(),
      JSON.stringify([transition('running', 'queued', 'worker_lost', at)]),
      JSON.stringify([transition('running', 'canceled', 'cancel_requested', at)]),
    ],
  );
  await tx.query('releaseLeases', 'delete from lease where partition = any($1)', [ids]);
  const over = [...ended, ...waiting, ...unstarted.filter((o) => o.status === 'canceled')];
  const jobs = over.map((o) => ({
    queue: 'operation' as QueueKind,
    partition: o.partition,
    id: o.id,
  }));
  if (jobs.length > 0) await finishJobs(tx, jobs);
  await recoverDeliveries(tx, ids, at);
  await releaseJobs(tx, ids);
}
