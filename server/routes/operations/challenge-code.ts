import { setTimeout as delay } from 'node:timers/promises';
import type { ActorSystem, Hint } from '../../../actors/system.js';
import { answerStanding, markAnswer, withdrawAnswer } from '../../../storage/operations/challenge-answer.js';
import type { Database, Transaction } from '../../../storage/postgres/database.js';
import { Backoff } from '../../../storage/process/backoff.js';
import { LIMITS } from '../../http/limits.js';

/**
 * Brings a code to the owner of its operation, and resolves when it is known what became of it: `taken`, the owner has it;
 * `refused`, the challenge takes no code, or ended without this one; `unheard`, no owner took it in time, and the code may be
 * given again. `record` adds the entry of the audit log, once the challenge is known to take the code. A code is only ever in memory and its hint may be lost, so the hint is sent until the row shows that it arrived.
 */
export async function giveCode(
  db: Database,
  system: ActorSystem,
  hint: Omit<Extract<Hint, { type: 'code' }>, 'mark'>,
  record: (tx: Transaction) => Promise<void>,
): Promise<'taken' | 'refused' | 'unheard'> {
  const { operationId, challengeId } = hint;
  const mark = await db.transaction(async (tx) => {
    const marked = await markAnswer(tx, operationId, challengeId);
    if (marked) await record(tx);
    return marked;
  });
  if (!mark) return 'refused';
  const standing = () => answerStanding(db, operationId, challengeId, mark);
  const waits = new Backoff({ first_ms: LIMITS.code_look_ms, cap_ms: LIMITS.code_hint_ms });
  for (const begun = performance.now(); performance.now() - begun < LIMITS.code_taken_ms; ) {
    system.hint({ ...hint, mark });
    await delay(waits.next_ms());
    const now = await standing();
    if (now !== 'waiting') return now === 'taken' ? 'taken' : 'refused';
  }
  if (await withdrawAnswer(db, operationId, mark)) return 'unheard';
  return (await standing()) === 'taken' ? 'taken' : 'refused';
}
