import { LIMITS } from '../limits.js';
import type { Sql } from '../postgres/database.js';

/**
 * A caller's answer to a challenge (OPS-10). The row is marked while the code is on its way to the owner, so that of two
 * answers one counts; that the owner took the code of a mark shows in the timeline. The code itself is not stored.
 *
 *     open ─ mark ─▶ marked ─ the owner takes the code ─▶ taken
 *      ▲               ├─ withdraw, or the mark is older than `answer_mark_ms` (its edge was lost) ─▶ open
 *      └───────────────┘
 */

/** When the mark was made, as the row holds it; the timeline holds that of each code that was taken. */
export type AnswerMark = string;

/**
 * Marks the operation's challenge as being answered. Undefined unless it is this one, unexpired, not marked and takes a code, and
 * no cancel was requested.
 */
export async function markAnswer(sql: Sql, operationId: string, challengeId: string): Promise<AnswerMark | undefined> {
  const [row] = await sql.query<{ mark: AnswerMark }>(
    'markAnswer',
    `update operation set updated_at = now(),
       challenge = challenge || jsonb_build_object('answered', true, 'answered_at', clock_timestamp())
     where id = $1 and status = 'waiting_user' and not cancel_requested
       and challenge ->> 'id' = $2 and (challenge ->> 'accepts_code')::boolean
       and (challenge ->> 'expires_at')::timestamptz > now()
       and (not (challenge ->> 'answered')::boolean
         or (challenge ->> 'answered_at')::timestamptz < now() - $3 * interval '1 millisecond')
     returning challenge ->> 'answered_at' as mark`,
    [operationId, challengeId, LIMITS.answer_mark_ms],
  );
  return row?.mark;
}

/** What became of an answer: `over` when the challenge ended without it. */
export async function answerStanding(
  sql: Sql,
  operationId: string,
  challengeId: string,
  mark: AnswerMark,
): Promise<'waiting' | 'taken' | 'over'> {
  const [row] = await sql.query<{ standing: 'waiting' | 'taken' | 'over' }>(
    'answerStanding',
    `select case when timeline @> jsonb_build_array(jsonb_build_object('mark', $3::text)) then 'taken'
       when status = 'waiting_user' and challenge ->> 'id' = $2 then 'waiting' else 'over' end as standing
     from operation where id = $1`,
    [operationId, challengeId, mark],
  );
  return row?.standing ?? 'over';
}

/** Takes the mark back, so that another answer can be given. False when the challenge waits no more, or has another mark. */
export async function withdrawAnswer(sql: Sql, operationId: string, mark: AnswerMark): Promise<boolean> {
  const rows = await sql.query<{ id: string }>(
    'withdrawAnswer',
    `update operation set challenge = (challenge || '{"answered":false}') - 'answered_at', updated_at = now()
     where id = $1 and status = 'waiting_user' and challenge ->> 'answered_at' = $2
     returning id`,
    [operationId, mark],
  );
  return rows.length > 0;
}
