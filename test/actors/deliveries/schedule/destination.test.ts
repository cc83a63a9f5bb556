import t from 'tap';
import type { AttemptError } from '../../../../actors/deliveries/callback/attempt-error.js';
import type { AttemptResult } from '../../../../actors/deliveries/callback/sender.js';
import { LIMITS } from '../../../../actors/deliveries/limits.js';
import { Destination } from '../../../../actors/deliveries/schedule/destination.js';

const delivered: AttemptResult = { outcome: 'delivered', status_code: 200, error: null, duration_ms: 10 };
const refused: AttemptResult = { outcome: 'failed', status_code: 500, error: 'status', duration_ms: 10 };
const late: AttemptResult = { outcome: 'failed', status_code: 200, error: 'timeout', duration_ms: 15_000 };
const failed = (error: AttemptError, duration_ms = 15_000): AttemptResult => ({
  outcome: 'failed',
  status_code: null,
  error,
  duration_ms,
});
const silent = failed('timeout');

/** A destination and the states it has announced. */
function observed() {
  const states: string[] = [];
  const destination = new Destination('destination', 'workspace', (_, state) =>
    states.push(state.kind === 'paused' ? `paused${state.tryDue ? ', try' : ''}` : state.kind),
  );
  return { destination, states };
}

/** Lets as many attempts fail as a pause takes, but for the last one, over this many subscriptions. */
function almostPaused(destination: Destination, subscriptions: number = LIMITS.pause_subscriptions): void {
  for (let i = 1; i < LIMITS.pause_attempts; i++) destination.learn(`subscription ${i % subscriptions}`, silent);
}

t.test('it is known to answer from its first answer in time, of whatever kind', async (t) => {
  for (const answer of [delivered, refused, failed('reset', 10), failed('tls', 10), failed('protocol', 10)]) {
    const { destination } = observed();
    destination.learn('subscription', answer);
    t.equal(destination.state, 'answering', answer.error ?? 'delivered');
  }
});

t.test('no answer, or a late one, makes it one that is not known to answer', async (t) => {
  const { destination, states } = observed();
  for (const result of [delivered, silent, delivered, late, silent, late]) destination.learn('subscription', result);
  t.strictSame(states, ['answering', 'silent', 'answering', 'unknown', 'silent', 'unknown']);
});

t.test('it is paused after enough attempts in a row without an answer, of enough subscriptions', async (t) => {
  for (const error of ['timeout', 'refused', 'unreachable', 'dns'] as const) {
    const { destination } = observed();
    almostPaused(destination);
    t.equal(destination.state, 'silent');
    destination.learn('subscription 0', failed(error));
    t.equal(destination.state, 'paused', error);
  }
});

t.test('few subscriptions never pause it, however often they fail', async (t) => {
  const { destination } = observed();
  for (let i = 0; i < 1_000; i++) destination.learn(`subscription ${i % (LIMITS.pause_subscriptions - 1)}`, silent);
  t.equal(destination.state, 'silent');
});

t.test('an answer between them begins the row anew', async (t) => {
  const { destination } = observed();
  almostPaused(destination);
  destination.learn('subscription 0', refused);
  almostPaused(destination);
  t.equal(destination.state, 'silent');
});

t.test('attempts that sent nothing say nothing', async (t) => {
  const { destination, states } = observed();
  for (const error of ['blocked', 'secret', 'internal'] as const) destination.learn('subscription', failed(error));
  t.strictSame(states, []);
});

t.test('a pause lasts until an answer, with tries between', async (t) => {
  const { destination, states } = observed();
  almostPaused(destination);
  destination.learn('subscription 0', silent);
  destination.tryNow();
  destination.learn('subscription 0', silent);
  destination.tryNow();
  destination.learn('subscription 0', late);
  const after = states.slice(states.indexOf('paused'));
  t.strictSame(after, ['paused', 'paused, try', 'paused', 'paused, try', 'unknown']);
});

t.test('what is noted as paused is tried at once, unless it is known to answer', async (t) => {
  const { destination, states } = observed();
  destination.adopt('timeout');
  t.strictSame(states, ['paused, try']);
  destination.learn('subscription', delivered);
  destination.adopt('timeout');
  t.equal(destination.state, 'answering');
  destination.tryNow();
  t.equal(destination.state, 'answering');
});
