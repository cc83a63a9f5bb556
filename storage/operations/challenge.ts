import type { Challenge } from '../model/records.js';
import { OPERATION_STEPS, transition } from '../model/transitions.js';
import type { Sql } from '../postgres/database.js';
import { HELD, type HeldOperation, heldArrays } from './execution.js';

/**
 * An operation that waits for its user (OPS-10). The owner begins and ends the wait under the fence of the attempt; an answer
 * to the challenge only marks it (`answerChallenge`). Each statement may be asked for again when its answer was lost.
 */
const WAIT_STEP = OPERATION_STEPS.sql('running', 'waiting_user');
const RESUME_STEP = OPERATION_STEPS.sql('waiting_user', 'running');

const INPUT = 'unnest($1::uuid[], $2::bigint[], $3::uuid[]) i(id, epoch, attempt_id)';

/**
 * running → waiting_user with this challenge, which expires after `expires_ms` by the database's clock. False when the
 * attempt is no longer held.
 */
export async function waitForUser(
  db: Sql,
  held: HeldOperation,
  challenge: Omit<Challenge, 'expires_at'>,
  expires_ms: number,
): Promise<boolean> {
  const entry = transition('running', 'waiting_user', `challenge_${challenge.kind}`, new Date());
  const rows = await db.query<{ id: string }>(
    'waitForUser',
    `with waiting as (
       update operation o set status = ${WAIT_STEP.to}, timeline = o.timeline || $5::jsonb, updated_at = now(),
         challenge = $4::jsonb || jsonb_build_object('expires_at', to_char(
           (now() + $6 * interval '1 millisecond') at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
       from ${INPUT} where ${HELD} and o.status ${WAIT_STEP.from}
       returning o.id
     )
     select id from waiting
     union all select o.id from operation o join ${INPUT} on ${HELD}
       where o.status = ${WAIT_STEP.to} and o.challenge -> 'id' = $4::jsonb -> 'id'`,
    [...heldArrays([held]), JSON.stringify(challenge), JSON.stringify([entry]), expires_ms],
  );
  return rows.length > 0;
}

/** waiting_user → running: a code was accepted. False when the attempt is no longer held. */
export async function resumeFromUser(db: Sql, held: HeldOperation): Promise<boolean> {
  const entry = transition('waiting_user', 'running', 'code_received', new Date());
  const rows = await db.query<{ id: string }>(
    'resumeFromUser',
    `with resumed as (
       update operation o set status = ${RESUME_STEP.to}, challenge = null, timeline = o.timeline || $4::jsonb, updated_at = now()
       from ${INPUT} where ${HELD} and o.status ${RESUME_STEP.from}
       returning o.id
     )
     select id from resumed
     union all select o.id from operation o join ${INPUT} on ${HELD} where o.status = ${RESUME_STEP.to}`,
    [...heldArrays([held]), JSON.stringify([entry])],
  );
  return rows.length > 0;
}
