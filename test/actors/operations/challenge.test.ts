import t from 'tap';
import { PendingChallenge } from '../../../actors/operations/challenge.js';
import { Interrupted } from '../../../actors/operations/execution.js';

const timers = () => process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;

t.test('the first code for this challenge answers it', async (t) => {
  const before = timers();
  const challenge = new PendingChallenge(new AbortController().signal);
  t.equal(challenge.answer('another id', '111111'), false);
  t.equal(challenge.answer(challenge.id, '222222'), true);
  t.equal(challenge.answer(challenge.id, '333333'), false, 'and no other does');
  t.equal(await challenge.code, '222222');
  t.equal(timers(), before);
});

t.test('an attempt that is stopped ends its challenge, for the reason it was stopped', async (t) => {
  const before = timers();
  const stop = new AbortController();
  const challenge = new PendingChallenge(stop.signal);
  stop.abort(new Interrupted('canceled'));
  await t.rejects(challenge.code, new Interrupted('canceled'));
  t.equal(challenge.answer(challenge.id, '000000'), false);
  t.equal(timers(), before);
});

t.test('a closed challenge takes no answer and leaves no timer', async (t) => {
  const before = timers();
  const challenge = new PendingChallenge(new AbortController().signal);
  challenge.close();
  t.equal(challenge.answer(challenge.id, '000000'), false);
  t.equal(timers(), before);
});
