import t from 'tap';
import { PendingChallenge } from '../../../../actors/operations/attempt/challenge.js';
import { Interrupted } from '../../../../actors/operations/attempt/execution.js';

const timers = () => process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;
const WAIT = { first_ms: 600_000, left: async () => 0 };
const given = ({ id }: PendingChallenge, code: string) => ({ challengeId: id, code });

t.test('the first code for this challenge answers it', async (t) => {
  const before = timers();
  const challenge = new PendingChallenge(new AbortController().signal, WAIT);
  t.equal(challenge.answer({ challengeId: 'another id', code: '111111' }), false);
  t.equal(challenge.answer(given(challenge, '222222')), true);
  t.equal(challenge.answer(given(challenge, '333333')), false, 'and no other does');
  t.match(await challenge.code, { code: '222222' });
  t.equal(timers(), before);
});

t.test('an attempt that is stopped ends its challenge, for the reason it was stopped', async (t) => {
  const before = timers();
  const stop = new AbortController();
  const challenge = new PendingChallenge(stop.signal, WAIT);
  stop.abort(new Interrupted('canceled'));
  await t.rejects(challenge.code, new Interrupted('canceled'));
  t.equal(challenge.answer(given(challenge, '000000')), false);
  t.equal(timers(), before);
});

t.test('a closed challenge takes no answer and leaves no timer', async (t) => {
  const before = timers();
  const challenge = new PendingChallenge(new AbortController().signal, WAIT);
  challenge.close();
  t.equal(challenge.answer(given(challenge, '000000')), false);
  t.equal(timers(), before);
});

t.test('it is over when its row says so, and while the row does not answer it is not', async (t) => {
  const before = timers();
  const said: (number | undefined)[] = [5, undefined, 1, 0];
  let asked = 0;
  const challenge = new PendingChallenge(new AbortController().signal, {
    first_ms: 5,
    left: async () => {
      if (++asked === 2) throw new Error('the database is away');
      return said.shift();
    },
  });
  await t.rejects(challenge.code, { code: 'challenge_expired' });
  t.equal(asked, 5);
  t.equal(challenge.answer(given(challenge, '000000')), false);
  t.equal(timers(), before);
});

t.test('an answer that comes while the row is asked counts', async (t) => {
  const left = Promise.withResolvers<number>();
  const asked = Promise.withResolvers<void>();
  const challenge = new PendingChallenge(new AbortController().signal, {
    first_ms: 1,
    left: () => {
      asked.resolve();
      return left.promise;
    },
  });
  await asked.promise;
  t.equal(challenge.answer(given(challenge, '222222')), true);
  left.resolve(0);
  t.match(await challenge.code, { code: '222222' });
});

t.test('an answer that its row knows no more is forgotten, and the next one counts', async (t) => {
  const before = timers();
  const challenge = new PendingChallenge(new AbortController().signal, { ...WAIT, left: async () => 600_000 });
  challenge.answer(given(challenge, '111111'));
  challenge.reopen();
  t.equal(challenge.answer(given(challenge, '222222')), true);
  t.match(await challenge.code, { code: '222222' });
  challenge.reopen();
  challenge.close();
  challenge.reopen();
  t.equal(challenge.answer(given(challenge, '333333')), false, 'one that is over is not opened again');
  t.equal(timers(), before);
});
