import t from 'tap';
import { createSimulatedProvider } from '../../../actors/providers/simulated.js';
import { triggersOf, withoutTriggers } from '../../../actors/simulated/triggers.js';
import { OPERATION_ERRORS } from '../../../storage/model/error-codes.js';
import { timer } from '../../fixture/measures.js';
import { connectionRow, NO_DATABASE, request } from './request.js';

const provider = createSimulatedProvider({ db: NO_DATABASE });
const ada = connectionRow('ada');
const READ = 'social.profile.get';
const WRITE = 'social.message.send';
const message = (body: string) => ({ recipient_actor_id: 'SIM_nobody', body });

t.test('every error code can be asked for', async (t) => {
  for (const code of Object.keys(OPERATION_ERRORS)) {
    const details = code === 'upstream_error' ? { details: { upstream_status: 500 } } : {};
    const { outcome } = await request(provider, ada, READ, { profile_id: `sim-fail-${code}` });
    t.strictSame(outcome, { status: 'failed', failure: { code, ...details } });
  }
});

t.test('an unknown code, status, reason or kind is no trigger', async (t) => {
  for (const text of [
    'sim-fail-nonsense',
    'sim-upstream-999',
    'sim-upstream-5',
    'sim-skip-tired',
    'sim-challenge-pigeon',
  ]) {
    t.strictSame(triggersOf(text, { text }), { delay_ms: 0, unknown: false }, text);
  }
});

t.test('an upstream status and a rate limit can be asked for', async (t) => {
  const upstream = await request(provider, ada, READ, { profile_id: 'sim-upstream-503' });
  t.strictSame(upstream.outcome, {
    status: 'failed',
    failure: { code: 'upstream_error', details: { upstream_status: 503 } },
  });
  const limited = await request(provider, ada, WRITE, message('sim-rate-limited'));
  t.strictSame(limited.outcome, { status: 'failed', failure: { code: 'provider_rate_limited' } });
  t.equal(limited.boundaries, 0, 'nothing left');
});

t.test('each reason to skip can be asked for', async (t) => {
  for (const reason of ['already_connected', 'invitation_pending', 'self_target']) {
    const { outcome } = await request(provider, ada, 'social.invitation.send', {
      recipient_actor_id: 'x',
      message: `sim-skip-${reason}`,
    });
    t.strictSame(outcome, { status: 'skipped', reason });
  }
});

t.test('a write can lose its answer, past its boundary; a read cannot', async (t) => {
  const written = await request(provider, ada, WRITE, message('sim-unknown'));
  const { at } = written.outcome.status === 'outcome_unknown' ? written.outcome.evidence.request : { at: null };
  t.match(at, /^\d{4}-.*Z$/);
  const evidence = { request: { sent: 'yes', at }, answer: null, fault: 'connection_lost' };
  t.strictSame(written, { outcome: { status: 'outcome_unknown', evidence }, boundaries: 1, challenges: [] });
  t.equal((await request(provider, ada, READ, { profile_id: 'sim-unknown' })).outcome.status, 'succeeded');
});

t.test('a write that is fenced at its boundary ends there', async (t) => {
  await t.rejects(request(provider, ada, WRITE, message('sim-unknown'), { fenced: true }), { message: 'fenced' });
});

t.test('an answer can be lost of a write that was done', async (t) => {
  t.match(triggersOf(null, message('sim-unknown-written')), { unknown: true, written: true });
  t.strictSame(triggersOf(null, message('sim-unknown written')), { delay_ms: 0, unknown: true });
});

t.test('a health check that fails on the session or the identity has the connection signed in again', async (t) => {
  const check = async (actor: string, capability: string) =>
    (await request(provider, connectionRow(actor), capability)).outcome;
  for (const code of ['authentication_failed', 'identity_mismatch']) {
    const effects = { health: 'needs_login' };
    t.match(await check(`sim-fail-${code}`, 'social.health.check'), { failure: { code }, effects });
    t.notOk('effects' in (await check(`sim-fail-${code}`, 'social.identity.get')), 'another operation proves nothing');
  }
  t.notOk('effects' in (await check('sim-fail-upstream_error', 'social.health.check')));
});

t.test('the actor decides as well, and the input before it', async (t) => {
  const failing = connectionRow('eve sim-fail-provider_restricted');
  t.match((await request(provider, failing, 'social.identity.get')).outcome, {
    failure: { code: 'provider_restricted' },
  });
  const asked = await request(provider, failing, READ, { profile_id: 'x-sim-fail-parsing_error' });
  t.match(asked.outcome, { failure: { code: 'parsing_error' } });
});

t.test('a trigger may stand anywhere but right after a letter or a digit', async (t) => {
  const code = (text: string) => triggersOf(null, { a: [{ b: text }] }).failure?.code;
  for (const before of ['', ' ', '_', '-', '.', '/', '"', '\n', '😀'])
    t.equal(code(`${before}sim-rate-limited`), 'provider_rate_limited');
  for (const before of ['a', 'Z', '9', 'é', 'ж', '٣']) t.equal(code(`${before}sim-rate-limited`), undefined, before);
  t.equal(code('sim-fail-upstream_error_and-more'), 'upstream_error', 'whatever follows');
});

t.test('several triggers stand together', async (t) => {
  t.strictSame(triggersOf('sim-challenge-sms', { a: 'sim-delay-20,sim-fail-proxy_error sim-delay-30' }), {
    delay_ms: 20,
    challenge: 'sms',
    failure: { code: 'proxy_error' },
    unknown: false,
  });
  t.equal(triggersOf('sim-delay-60001', {}).delay_ms, 60_000, 'a minute at most');
});

t.test('a delay comes before the boundary and ends at once when it is stopped', async (t) => {
  const shorter = timer(35);
  const late = await request(provider, ada, WRITE, message('sim-delay-40 sim-unknown'));
  t.ok(shorter.isOver);
  t.equal(late.boundaries, 1);
  const stop = new AbortController();
  const waiting = request(provider, ada, WRITE, message('sim-delay-60000'), { signal: stop.signal });
  stop.abort(new Error('stopped'));
  await t.rejects(waiting, { message: 'stopped' });
  await t.rejects(request(provider, ada, READ, { profile_id: 'x' }, { signal: stop.signal }), { message: 'stopped' });
});

t.test('a challenge is asked until 000000 comes, at login and recruiter switch only', async (t) => {
  const challenged = connectionRow('bob-sim-challenge-email');
  const login = await request(provider, challenged, 'social.login', {}, { codes: ['123456', '000000'] });
  t.equal(login.outcome.status, 'succeeded');
  t.strictSame(login.challenges, [
    { kind: 'email', acceptsCode: true },
    { kind: 'email', acceptsCode: true },
  ]);
  const input = { contract: 'sim-challenge-authenticator' };
  const switched = await request(provider, ada, 'social.recruiter.switch', input, { codes: ['000000'] });
  t.equal(switched.outcome.status, 'succeeded');
  t.strictSame(switched.challenges, [{ kind: 'authenticator', acceptsCode: true }]);
  t.strictSame((await request(provider, challenged, READ, { profile_id: 'x' })).challenges, []);
  const approved = await request(provider, connectionRow('sim-challenge-approval'), 'social.login');
  t.match(approved, { outcome: { status: 'succeeded' }, challenges: [{ kind: 'approval', acceptsCode: false }] });
  const captcha = connectionRow('sim-challenge-captcha');
  await t.rejects(request(provider, captcha, 'social.login', {}, { codes: ['000000'] }), { message: 'nobody answers' });
});

t.test('triggers steer a search and are not looked for', async (t) => {
  t.equal(withoutTriggers('nurse sim-delay-5').trim(), 'nurse');
  const plain = await request(provider, ada, 'social.people.search', { keywords: 'nurse' });
  const steered = await request(provider, ada, 'social.people.search', { keywords: 'nurse sim-delay-1' });
  t.strictSame(steered.outcome, plain.outcome);
});
