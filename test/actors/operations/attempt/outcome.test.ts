import t from 'tap';
import { capabilityNamed } from '../../../../actors/capabilities/catalogue.js';
import { LIMITS } from '../../../../actors/limits.js';
import type { Failed, Outcome } from '../../../../actors/operations/attempt/execution.js';
import { mayRetry } from '../../../../actors/operations/attempt/outcome.js';

const read = capabilityNamed('social.profile.get')!;
const write = capabilityNamed('social.message.send')!;

const attempt = { status: 'running' as const, tookAnswer: false, pastBoundary: false, capability: write };
const trouble: Failed = { status: 'failed', failure: { code: 'proxy_error' }, transient: true };
const own: Failed = { ...trouble, own: { wait_ms: 0 } };

t.test('a write is tried again only while nothing of it has left', async (t) => {
  const past = { ...attempt, pastBoundary: true };
  t.equal(mayRetry(attempt, trouble, 1), true, 'before its boundary');
  for (const outcome of [trouble, own]) t.equal(mayRetry(past, outcome, 1), false, 'past its boundary');
  t.equal(mayRetry(past, { ...trouble, unsent: true }, 1), true, 'past it, when nothing was sent');
  t.equal(mayRetry({ ...past, capability: read }, trouble, 1), true, 'a read has no boundary');
});

t.test('only trouble that passes is tried again, and so often', async (t) => {
  const others: Outcome[] = [
    { status: 'succeeded', result: {} },
    { status: 'canceled' },
    { status: 'failed', failure: { code: 'proxy_error' } },
    { status: 'skipped', reason: 'already_connected' },
  ];
  for (const outcome of others) t.equal(mayRetry(attempt, outcome, 1), false, JSON.stringify(outcome));
  t.equal(mayRetry(attempt, trouble, LIMITS.read_attempts - 1), true);
  t.equal(mayRetry(attempt, trouble, LIMITS.read_attempts), false);
  t.equal(mayRetry(attempt, own, LIMITS.read_attempts), true, 'trouble of the service itself counts no attempts');
});

t.test('what waited for its user, or took a code, is not tried again', async (t) => {
  t.equal(mayRetry({ ...attempt, status: 'waiting_user' }, trouble, 1), false);
  t.equal(mayRetry({ ...attempt, tookAnswer: true }, trouble, 1), false);
});
