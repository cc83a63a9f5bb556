import t, { type Test } from 'tap';
import type { Execution } from '../../../actors/operations/execution.js';
import type { ActorSystem, Hint } from '../../../actors/system.js';
import { giveCode } from '../../../server/routes/challenge-code.js';
import type { OperationRow } from '../../../storage/model/records.js';
import { operationsThread } from '../../actors/operations/thread.js';
import { eventually } from '../../fixture/eventually.js';

/** An operation that waits for a code, and the way of hints to its owner. */
async function waitingForCode(t: Test) {
  const codes: string[] = [];
  const thread = await operationsThread(t, async (execution: Execution) => {
    for (;;) {
      codes.push(await execution.challenge('email', true));
      if (codes.at(-1) === 'right') return { status: 'succeeded', result: {} };
    }
  });
  const { db, partition, connection } = thread;
  await thread.submit('login');
  let hints = 0;
  let lost = (_: number) => false;
  const system = {
    hint(hint: Hint) {
      if (hint.type !== 'code' || lost(hints++)) return;
      partition.actor(hint.connectionId)?.code(hint.operationId, hint.challengeId, hint.code);
    },
  } as ActorSystem;
  const waiting = async (other?: string): Promise<OperationRow> => {
    const next = () => thread.ended('login', ['waiting_user']);
    const row = await eventually('it waits for another code', next, (found) => found?.challenge?.id !== other);
    return row!;
  };
  const first = await waiting();
  const give = (code: string, challengeId = first.challenge!.id) =>
    giveCode(db, system, { type: 'code', connectionId: connection.id, operationId: first.id, challengeId, code });
  return {
    ...{ db, codes, give, first, waiting, ended: thread.ended, partition, connection },
    hints: () => hints,
    lose(which: (hint: number) => boolean) {
      lost = which;
      hints = 0;
    },
  };
}

t.test('a code whose hint is lost is brought again, until the owner has it', async (t) => {
  const { give, codes, ended, lose, hints, first, waiting } = await waitingForCode(t);
  lose((hint) => hint < 3);
  t.equal(await give('wrong'), 'taken');
  t.ok(hints() > 3);
  const next = await waiting(first.challenge!.id);
  t.equal(await give('right'), 'refused', 'the first challenge is over');
  t.strictSame(await Promise.all([give('right', next.challenge!.id), give('other', next.challenge!.id)]), [
    'taken',
    'refused',
  ]);
  await ended('login', ['succeeded']);
  t.strictSame(codes, ['wrong', 'right'], 'each counts once');
});

t.test('a code that no owner takes is unheard, and may be given again', async (t) => {
  const { give, ended, lose, db, first } = await waitingForCode(t);
  lose(() => true);
  t.equal(await give('right'), 'unheard');
  const [row] = await db.query<{ challenge: object }>(
    'testChallenge',
    'select challenge from operation where id = $1',
    [first.id],
  );
  t.match(row, { challenge: { answered: false, answered_at: undefined } });
  lose(() => false);
  t.equal(await give('right'), 'taken');
  await ended('login', ['succeeded']);
});

t.test('the mark of an edge that was lost keeps no other answer out for long', async (t) => {
  const { give, db, first } = await waitingForCode(t);
  const mark = (ago: string) =>
    db.query(
      'testMark',
      `update operation set challenge = challenge || jsonb_build_object('answered', true, 'answered_at', now() - $2::interval)
       where id = $1`,
      [first.id, ago],
    );
  await mark('5 seconds');
  t.equal(await give('right'), 'refused');
  await mark('11 seconds');
  t.equal(await give('right'), 'taken');
});

t.test('a code is not taken when its challenge ends for another reason on its way', async (t) => {
  const { give, lose, ended, partition, connection, first } = await waitingForCode(t);
  lose((hint) => {
    if (hint === 1) partition.actor(connection.id)?.cancel(first.id);
    return true;
  });
  t.equal(await give('right'), 'refused');
  await ended('login', ['canceled']);
});
