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
export interface AnswerMark {
  /** When it was made, as the row holds it; the timeline holds that of each code that was taken. */
  at: string;
  /** How many codes were taken before by owners of the version before, which do not note whose. */
  taken: number;
}

const TAKEN = `jsonb_array_length(jsonb_path_query_array(timeline, '$[*] ? (@.reason == "code_received" && !exists(@.mark))'))`;

/**
 * Marks the operation's challenge as being answered. Undefined unless it is this one, unexpired, not marked and takes a code, and
 * no cancel was requested.
 */
export async function markAnswer(sql: Sql, operationId: string, challengeId: string): Promise<AnswerMark | undefined> {
  const [mark] = await sql.query<AnswerMark>(
    'markAnswer',
    `update operation set updated_at = now(),
       challenge = challenge || jsonb_build_object('answered', true, 'answered_at', clock_timestamp())
     where id = $1 and status = 'waiting_user' and not cancel_requested
       and challenge ->> 'id' = $2 and (challenge ->> 'accepts_code')::boolean
       and (challenge ->> 'expires_at')::timestamptz > now()
       and (not (challenge ->> 'answered')::boolean
         or (challenge ->> 'answered_at')::timestamptz < now() - $3 * interval '1 millisecond')
     returning challenge ->> 'answered_at' as at, ${TAKEN} as taken`,
    [operationId, challengeId, LIMITS.answer_mark_ms],
  );
  return mark;
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
    `select case when ${TAKEN} > $3 or timeline @> jsonb_build_array(jsonb_build_object('mark', $4::text)) then 'taken'
       when status = 'waiting_user' and challenge ->> 'id' = $2 then 'waiting' else 'over' end as standing
     from operation where id = $1`,
    [operationId, challengeId, mark.taken, mark.at],
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
    [operationId, mark.at],
  );
  return rows.length > 0;
}
