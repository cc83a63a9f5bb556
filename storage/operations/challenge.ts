import type { Challenge } from '../model/records.js';
import { OPERATION_STEPS, transition } from '../model/transitions.js';
import type { Sql } from '../postgres/database.js';
import { HELD, type HeldOperation, heldArrays } from './execution.js';

/**
 * An operation that waits for its user (OPS-10). The owner begins and ends the wait under the fence of the attempt; an answer
 * to the challenge only marks it (`answerChallenge`).
 */
const WAIT_STEP = OPERATION_STEPS.sql('running', 'waiting_user');
const RESUME_STEP = OPERATION_STEPS.sql('waiting_user', 'running');

/** running → waiting_user with this challenge. False when the attempt is no longer held. */
export async function waitForUser(db: Sql, held: HeldOperation, challenge: Challenge): Promise<boolean> {
  const at = new Date();
  const rows = await db.query<{ id: string }>(
    'waitForUser',
    `update operation o set status = ${WAIT_STEP.to}, challenge = $4, timeline = o.timeline || $5::jsonb, updated_at = now()
     from unnest($1::uuid[], $2::bigint[], $3::uuid[]) i(id, epoch, attempt_id)
     where ${HELD} and o.status ${WAIT_STEP.from}
     returning o.id`,
    [
      ...heldArrays([held]),
      JSON.stringify(challenge),
      JSON.stringify([transition('running', 'waiting_user', `challenge_${challenge.kind}`, at)]),
    ],
  );
  return rows.length > 0;
}

/** waiting_user → running: a code was accepted. False when the attempt is no longer held. */
export async function resumeFromUser(db: Sql, held: HeldOperation): Promise<boolean> {
  const at = new Date();
  const rows = await db.query<{ id: string }>(
    'resumeFromUser',
    `update operation o set status = ${RESUME_STEP.to}, challenge = null, timeline = o.timeline || $4::jsonb, updated_at = now()
     from unnest($1::uuid[], $2::bigint[], $3::uuid[]) i(id, epoch, attempt_id)
     where ${HELD} and o.status ${RESUME_STEP.from}
     returning o.id`,
    [...heldArrays([held]), JSON.stringify([transition('waiting_user', 'running', 'code_received', at)])],
  );
  return rows.length > 0;
}
