import t from 'tap';
import { OPERATION_ERRORS } from '../../storage/model/error-codes.js';
import { timer } from '../fixture/measures.js';
import { tableFixture } from './table.js';

/** The table "Simulated triggers": what each word does, wherever in an input or in the actor's id it stands. */

const ROWS: [trigger: string, ends: Record<string, unknown>][] = [
  ...Object.keys(OPERATION_ERRORS).map((code): [string, Record<string, unknown>] => [
    `sim-fail-${code}`,
    { status: 'failed', error_code: code },
  ]),
  ['sim-upstream-404', { status: 'failed', error_code: 'upstream_error', error_details: { upstream_status: 404 } }],
  ['sim-rate-limited', { status: 'failed', error_code: 'provider_rate_limited', error_details: { retryable: true } }],
  ['sim-skip-already_connected', { status: 'skipped', result: { reason: 'already_connected' } }],
  ['sim-skip-invitation_pending', { status: 'skipped', result: { reason: 'invitation_pending' } }],
  ['sim-skip-self_target', { status: 'skipped', result: { reason: 'self_target' } }],
  ['sim-unknown', { status: 'outcome_unknown', error_code: null, evidence: { fault: 'connection_lost' } }],
  ['sim-delay-1', { status: 'succeeded' }],
  ['Hello (sim-skip-self_target), and more', { status: 'skipped' }],
  ['sim-delay-1 sim-fail-proxy_error', { status: 'failed', error_code: 'proxy_error' }],
  ['nosim-unknown', { status: 'succeeded' }],
  ['1sim-unknown', { status: 'succeeded' }],
  ['sim-nothing', { status: 'succeeded' }],
];

t.test('each trigger ends a message as its row promises', async (t) => {
  const { service } = await tableFixture(t);
  const { client } = service;
  const ada = await client.connect({ provider: 'simulated', external_actor: { kind: 'person', id: 'ada' } });
  for (const [body, ends] of ROWS) {
    t.match(await client.run(ada, 'social.message.send', { recipient_actor_id: 'bob', body }), ends, body);
  }
  const nested = { conversation_id: 'a', render_content_unions: [{ a: [{ b: 'sim-skip-self_target' }] }] };
  t.match(await client.run(ada, 'social.message.send', nested), { status: 'skipped' }, 'in any string of the input');
  const read = await client.run(ada, 'social.profile.get', { profile_id: 'sim-unknown' });
  t.match(read, { status: 'succeeded' }, 'a read has no unknown outcome');
});

t.test('a trigger in the actor steers every operation of the connection', async (t) => {
  const { service } = await tableFixture(t);
  const { client } = service;
  const failing = await client.connect({
    provider: 'simulated',
    external_actor: { kind: 'installation', id: 'ada sim-upstream-502' },
  });
  const failed = await client.run(failing, 'social.identity.get');
  t.match(failed, { status: 'failed', error_code: 'upstream_error', error_details: { upstream_status: 502 } });

  const slow = await client.connect({ provider: 'simulated', external_actor: { kind: 'person', id: 'sim-delay-400' } });
  const shorter = timer(390);
  t.match(await client.run(slow, 'social.identity.get'), { status: 'succeeded' });
  t.ok(shorter.isOver, 'a delay is waited');

  for (const kind of ['email', 'sms', 'authenticator', 'approval', 'captcha']) {
    const asked = await client.connect({
      provider: 'simulated',
      external_actor: { kind: 'person', id: `ada sim-challenge-${kind}` },
    });
    const takesCode = !['approval', 'captcha'].includes(kind);
    t.match(await client.run(asked, 'social.identity.get'), { status: 'succeeded' }, 'login and recruiter switch only');
    const waiting = await client.settled((await client.submit(asked, 'social.login')).body.id);
    t.match(waiting, { status: 'waiting_user', challenge: { kind, accepts_code: takesCode } }, kind);
    if (kind === 'approval')
      t.match(await client.answered(waiting.id, waiting.challenge!.id), { status: 'succeeded' }, 'given by itself');
    if (!takesCode) continue;
    const wrong = { challenge_id: waiting.challenge!.id, code: '999999' };
    t.equal((await client.send('POST', `/v1/operations/${waiting.id}/challenge`, wrong)).status, 202);
    const again = await client.answered(waiting.id, wrong.challenge_id);
    t.match(again, { status: 'waiting_user', challenge: { kind } }, 'any other code is wrong');
    const right = { challenge_id: again.challenge!.id, code: '000000' };
    t.equal((await client.send('POST', `/v1/operations/${waiting.id}/challenge`, right)).status, 202);
    t.match(await client.answered(waiting.id, right.challenge_id), { status: 'succeeded' }, '000000 is right');
  }
});
