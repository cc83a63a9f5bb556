import { LIMITS } from '../limits.js';
import type { Challenge } from '../model/records.js';
import { OPERATION_STEPS, transition } from '../model/transitions.js';
import type { Sql } from '../postgres/database.js';
import { HELD, heldArrays } from './execution.js';
import type { HeldOperation } from './starts.js';

/**
 * An operation that waits for its user (OPS-10). The owner begins and ends the wait under the fence of the attempt; an answer
 * to the challenge only marks it (challenge-answer.ts). Each statement may be asked for again when its answer was lost.
 */
const WAIT_STEP = OPERATION_STEPS.sql('running', 'waiting_user');
const RESUME_STEP = OPERATION_STEPS.sql('waiting_user', 'running');

const INPUT = 'unnest($1::uuid[], $2::bigint[], $3::uuid[]) i(id, epoch, attempt_id)';

/**
 * running → waiting_user with this challenge, which expires after `expires_ms` by the database's clock. False when the
 * attempt is no longer held. The triggers `operation_waits_told` and `operation_waiting` announce it (EVT-20) and list it, in the same transaction.
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

/** What ended a wait for the user: their code, or what the provider shows of what they did elsewhere. In the timeline (OPS-10). */
export type WaitEnd = 'code_received' | 'challenge_ended';

/**
 * waiting_user → running: the code is accepted for which the row has this mark (`AnswerMark`); null, where no code is asked for, stands for
 * any. `unmarked`: that mark was taken back, or another one took its place. `not_held`: the attempt is held no longer.
 */
export async function resumeFromUser(
  db: Sql,
  held: HeldOperation,
  mark: string | null,
  end: WaitEnd,
): Promise<'resumed' | 'unmarked' | 'not_held'> {
  const entry = transition('waiting_user', 'running', end, new Date());
  const [row] = await db.query<{ status: string }>(
    'resumeFromUser',
    `with resumed as (
       update operation o set status = ${RESUME_STEP.to}, challenge = null, updated_at = now(),
         timeline = o.timeline || jsonb_build_array($4::jsonb || jsonb_build_object('mark', o.challenge -> 'answered_at'))
       from ${INPUT} where ${HELD} and o.status ${RESUME_STEP.from}
         and ($5::text is null or o.challenge ->> 'answered_at' = $5)
       returning o.status
     )
     select status from resumed
     union all select o.status from operation o join ${INPUT} on ${HELD} where not exists (select from resumed)`,
    [...heldArrays([held]), JSON.stringify(entry), mark],
  );
  if (!row) return 'not_held';
  return row.status === 'running' ? 'resumed' : 'unmarked';
}

/**
 * Milliseconds for which this challenge still waits, by the database's clock: to its end, and beyond it while the row is marked for a
 * code that was given before. 0 when it is over; undefined while the row does not wait for it.
 */
export async function challengeLeft(db: Sql, held: HeldOperation, challengeId: string): Promise<number | undefined> {
  const [row] = await db.query<{ left_ms: number }>(
    'challengeLeft',
    `select greatest(0, extract(epoch from greatest((o.challenge ->> 'expires_at')::timestamptz,
         (o.challenge ->> 'answered_at')::timestamptz + $5 * interval '1 millisecond') - now()))::float8 * 1000 as left_ms
     from operation o join ${INPUT} on ${HELD} where o.status = ${WAIT_STEP.to} and o.challenge ->> 'id' = $4`,
    [...heldArrays([held]), challengeId, LIMITS.answer_mark_ms],
  );
  return row?.left_ms;
}
