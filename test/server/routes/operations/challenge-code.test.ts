import t, { type Test } from 'tap';
import type { Execution, Outcome } from '../../../../actors/operations/attempt/execution.js';
import type { ActorSystem, Hint } from '../../../../actors/system.js';
import { giveCode } from '../../../../server/routes/operations/challenge-code.js';
import type { OperationRow } from '../../../../storage/model/records.js';
import { operationsThread } from '../../../actors/operations/thread.js';
import { eventually } from '../../../fixture/eventually.js';

const BROWSER_GONE: Outcome = { status: 'failed', failure: { code: 'browser_unavailable' }, transient: true };

/** An operation that waits for a code, and the way of hints to its owner. */
async function waitingForCode(t: Test, challenge_ms?: number) {
  const codes: string[] = [];
  const provider = async (execution: Execution): Promise<Outcome> => {
    for (;;) {
      codes.push(await execution.challenge('email', true));
      if (codes.at(-1) === 'right') return { status: 'succeeded', result: {} };
      if (codes.at(-1) === 'crash') return BROWSER_GONE;
    }
  };
  const thread = await operationsThread(t, provider, challenge_ms === undefined ? {} : { challenge_ms });
  const { db, partition, connection } = thread;
  await thread.submit('login');
  let hints = 0;
  let lost = (_: number) => false;
  const system = {
    hint(hint: Hint) {
      if (hint.type !== 'code' || lost(hints++)) return;
      partition.actor(hint.connectionId)?.code(hint.operationId, hint);
    },
  } as ActorSystem;
  const waiting = async (other?: string): Promise<OperationRow> => {
    const next = () => thread.ended('login', ['waiting_user']);
    const row = await eventually('it waits for another code', next, (found) => found?.challenge?.id !== other);
    return row!;
  };
  const first = await waiting();
  const give = (code: string, challengeId = first.challenge!.id) => {
    const hint = { type: 'code' as const, connectionId: connection.id, operationId: first.id, challengeId, code };
    return giveCode(db, system, hint, async () => {});
  };
  return {
    ...{ db, codes, give, first, waiting, ended: thread.ended, link: thread.link, partition, connection },
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

t.test('a code that was given in time counts, though the time is over when it reaches its owner', async (t) => {
  const { give, lose, ended, db, codes } = await waitingForCode(t, 1_500);
  let over = false;
  lose(() => !over);
  const given = give('right');
  await eventually(
    'the time is over',
    () =>
      db.query(
        'testOver',
        `select from operation where (challenge ->> 'expires_at')::timestamptz < now() - interval '300 milliseconds'`,
      ),
    (rows) => rows.length > 0,
  );
  over = true;
  t.equal(await given, 'taken');
  await ended('login', ['succeeded']);
  t.strictSame(codes, ['right']);
});

t.test('without a code the operation ends when the time of its row is over, and no sooner', async (t) => {
  const { give, lose, ended, first } = await waitingForCode(t, 500);
  lose(() => true);
  const end = await ended('login', ['failed']);
  t.match(end, { error_code: 'challenge_expired' });
  t.ok(end!.updated_at.toISOString() >= first.challenge!.expires_at);
  t.equal(await give('right'), 'refused');
});

t.test('of a code that was taken back and the one after it, the second one is used', async (t) => {
  const { give, ended, link, codes, db, first } = await waitingForCode(t);
  link.stall('both'); // its owner has the code, and cannot say so
  t.equal(await give('wrong'), 'unheard');
  const second = give('right');
  await eventually(
    'the row is marked again',
    () =>
      db.query('testMarked', `select from operation where id = $1 and (challenge ->> 'answered')::boolean`, [first.id]),
    (rows) => rows.length > 0,
  );
  link.pass();
  t.equal(await second, 'taken');
  await ended('login', ['succeeded']);
  t.strictSame(codes, ['right'], 'what was answered 503 is not');
});

t.test(
  'once its code was taken an operation is not tried again: another attempt would ask for another one',
  async (t) => {
    const { give, ended, codes } = await waitingForCode(t);
    t.equal(await give('crash'), 'taken');
    const end = await ended('login', ['failed', 'waiting_user']);
    t.match(end, { status: 'failed', error_code: 'browser_unavailable', attempts: { length: 1 } });
    t.strictSame(codes, ['crash']);
  },
);
