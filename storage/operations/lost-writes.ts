import { type StoredEvidence, UNKNOWN_PROGRESS } from '../model/evidence.js';
import { ATTEMPT_STEPS, OPERATION_STEPS } from '../model/transitions.js';
import type { Sql } from '../postgres/database.js';
import { FENCE, type HeldOperation } from './starts.js';

/** An attempt at a write that its worker knows to be past its write boundary, whatever its row shows. */
export interface LostWrite extends HeldOperation {
  /** The session's revision that it began with. */
  revision: number;
  /** Milliseconds that it ran. */
  running_ms: number;
}

const STARTED = OPERATION_STEPS.sql('queued', 'running');
const RESUMED = OPERATION_STEPS.sql('waiting_user', 'running');
const UNKNOWN = OPERATION_STEPS.sql('running', 'outcome_unknown');
const CLOSED = ATTEMPT_STEPS.sql('running', 'outcome_unknown').to;
const EVIDENCE: StoredEvidence = { ...UNKNOWN_PROGRESS, fault: 'internal_error' };

const step = (from: string, to: string) =>
  `jsonb_build_object('from', ${from}::text, 'to', ${to}::text, 'reason', 'commits_lost', 'at', $7::text)`;

/** The row shows this attempt as its last one. */
const OURS = "o.attempts -> -1 ->> 'id' = $4::uuid::text";

const END = `
  with input as (select $1::smallint as partition, $2::bigint as epoch), fence as materialized (${FENCE})
  update operation o set status = ${UNKNOWN.to}, epoch = $2, challenge = null, evidence = '${JSON.stringify(EVIDENCE)}'::jsonb,
    updated_at = now(),
    attempts = case when ${OURS} then o.attempts - -1 else o.attempts end || (case when ${OURS} then o.attempts -> -1
      else jsonb_build_object('id', $4::uuid, 'number', jsonb_array_length(o.attempts) + 1, 'state_revision', $5::integer, 'started_at', $6::text) end
      || jsonb_build_object('status', ${CLOSED}, 'phase', 'dispatching', 'completed_at', $7::text, 'running_ms', $8::integer)),
    timeline = o.timeline || case when o.status <> 'running'
      then jsonb_build_array(${step('o.status', STARTED.to)}, ${step("'running'", UNKNOWN.to)})
      else jsonb_build_array(${step("'running'", UNKNOWN.to)}) end
  where o.id = $3 and (o.status ${UNKNOWN.from} or o.status ${STARTED.from} or o.status ${RESUMED.from}) and exists (select 1 from fence)
  returning o.id`;

/**
 * Ends a write `outcome_unknown` whose row does not show that it passed its boundary, because the database lost commits: a standby that was
 * behind was promoted, or a server did not wait for its disk. It is never made again (OPS-4). False when the row still says that it
 * may run and could not be changed now: the partition's row is locked, or its epoch has passed.
 */
export async function endLostWrite(db: Sql, write: LostWrite): Promise<boolean> {
  const at_ms = Date.now();
  const ended = await db.query('endLostWrite', END, [
    write.partition,
    write.epoch,
    write.id,
    write.attemptId,
    write.revision,
    new Date(at_ms - write.running_ms).toISOString(),
    new Date(at_ms).toISOString(),
    Math.round(write.running_ms),
  ]);
  if (ended.length > 0) return true;
  const open = await db.query(
    'isWriteOpen',
    `select 1 as one from operation where id = $1 and status in ('queued', 'running', 'waiting_user')`,
    [write.id],
  );
  return open.length === 0;
}
