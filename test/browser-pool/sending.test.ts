import t from 'tap';
import { SITES } from '../fixture/network.js';
import { longTest, sized } from '../fixture/size.js';
import { Account } from './account.js';
import { poolFixture } from './fixture.js';

const UNSENT = { code: 'session_fenced', transient: true, pastBoundary: false, unsent: true };
/** The answer to an invitation as each site says it. */
const INVITED = {
  social: { code: 'INVITATION_SENT', original: { data: { code: 'INVITATION_SENT', invitationId: String } } },
  guild: { code: 'placed', original: { result: { reason_code: 'placed', request_uid: String } } },
};
const TIMESTAMP = /^\d{4}-.*Z$/;

/** A fault of the site, what it has received, and what its answer tells. */
const LOST_ANSWERS = [
  ['drop_after_commit', 1, null],
  ['error', 0, { status: 500 }],
  ...sized([], [
    ['drop_before_commit', 0, null],
    ['hang', 0, null],
    ['malformed', 1, { status: 200 }],
    ['error_after_commit', 1, { status: 500 }],
  ] as const),
] as const;

for (const name of SITES) {
  t.test(`messages and invitations, on ${name}`, async (t) => {
    const { network, channel, shortTimeouts } = await poolFixture(t, {}, name);

    const account = new Account(network, 'ada');
    await account.login(channel);
    const found = await account.run(channel, 'social.people.search', { keywords: 'berlin', count: 1 }).expect('result');
    const recipient_actor_id = (found.result.people as { hash_id: string }[])[0]?.hash_id ?? '';
    let before = 0;
    t.beforeEach(async () => {
      before = (await network.ledger('ada')).length;
    });
    /** What has arrived since the test began. */
    const arrived = async () => (await network.ledger('ada')).slice(before);
    const fault = (mode: string, status?: number) =>
      network.fault({ account: 'ada', capability: 'social.message.send', mode, ...(status && { status }), times: 1 });

    t.test('nothing leaves before the boundary is passed, and then exactly one message', async (t) => {
      const run = account.run(channel, 'social.message.send', { recipient_actor_id, body: 'Hello' });
      await run.expect('boundary');
      t.same(await arrived(), []);
      run.proceed();
      const { result } = await run.expect('result');
      t.match(result, { provider_acknowledged: true, destination: { recipient_actor_id }, message_id: /^urn:/ });
      const entries = await arrived();
      t.match(entries, [{ kind: 'message', target: recipient_actor_id, text: 'Hello' }]);
      t.equal(entries.length, 1);
      const { conversation_id } = result;
      const again = account.run(channel, 'social.message.send', { conversation_id, body: 'Again' });
      await again.expect('boundary');
      again.proceed();
      t.match((await again.expect('result')).result, { destination: { conversation_id } });
      const read = await account.run(channel, 'social.messages.list', { conversation_id, count: 2 }).expect('result');
      t.match(read.result.messages, [{ message_body: 'Again' }, { message_body: 'Hello' }]);
    });

    t.test('a cancel at the boundary ends it with nothing sent', async (t) => {
      const run = account.run(channel, 'social.message.send', { recipient_actor_id, body: 'Hello' });
      await run.expect('boundary');
      run.cancel();
      run.proceed();
      t.match(await run.expect('failure'), { code: 'canceled' });
      t.same(await arrived(), []);
    });

    t.test('a cancel past the boundary comes too late', async (t) => {
      const run = account.run(channel, 'social.message.send', { recipient_actor_id, body: 'Hello' });
      await run.expect('boundary');
      run.proceed();
      run.cancel();
      await run.expect('result');
      t.equal((await arrived()).length, 1);
    });

    t.test('a message and an invitation whose `proceed` comes too late do not leave', async (t) => {
      const input = { recipient_actor_id, body: 'Hello' };
      for (const capability of ['social.message.send', 'social.invitation.send']) {
        const run = account.run(channel, capability, { ...input, body: undefined });
        await run.expect('boundary');
        run.proceed(0);
        t.match(await run.expect('failure'), UNSENT, capability);
      }
      const asleep = account.run(channel, 'social.message.send', input);
      await asleep.expect('boundary');
      asleep.proceedWith({ until_ns: process.hrtime.bigint() + 60_000_000_000n, until_ms: Date.now() });
      t.match(await asleep.expect('failure'), UNSENT, 'a machine that slept in between');
      t.same(await arrived(), []);
      const again = account.run(channel, 'social.message.send', input);
      await again.expect('boundary');
      again.proceed();
      await again.expect('result');
      t.equal((await arrived()).length, 1, 'the next attempt sends it, once');
    });

    t.test("an invitation leaves behind the boundary, and brings the provider's raw answer when asked", async (t) => {
      const strangers = await account
        .run(channel, 'social.people.search', { filters: { network: 'O' }, count: 2 })
        .expect('result');
      const [first, second] = (strangers.result.people as { hash_id: string }[]).map((person) => person.hash_id);
      const run = account.run(channel, 'social.invitation.send', { recipient_actor_id: first, message: 'Hello' });
      await run.expect('boundary');
      t.strictSame(await arrived(), []);
      run.proceed();
      const message = 'Your invitation is on its way.';
      const result = { recipient_actor_id: first, code: INVITED[name].code, message, provider_acknowledged: true };
      t.strictSame((await run.expect('result')).result, result);
      t.match(await arrived(), [{ kind: 'invitation', target: first, text: 'Hello' }]);

      const raw = account.run(channel, 'social.invitation.send', { recipient_actor_id: second, return_original: true });
      await raw.expect('boundary');
      raw.proceed();
      t.match((await raw.expect('result')).result, {
        original: INVITED[name].original,
      });
    });

    t.test('a boundary that is not answered is given up with nothing sent', async (t) => {
      const run = account.run(shortTimeouts(), 'social.message.send', { recipient_actor_id, body: 'Hello' });
      await run.expect('boundary');
      const failure = await run.expect('failure');
      t.match(failure, { code: 'session_fenced', transient: true, pastBoundary: false, unsent: true });
      t.equal(failure.progress, undefined, 'there was no request');
      t.same(await arrived(), []);
    });

    for (const [mode, sent, answer] of LOST_ANSWERS) {
      t.test(`a lost answer (${mode}) is never tried again and leaves open what happened`, async (t) => {
        await fault(mode);
        const asked = mode === 'hang' ? shortTimeouts() : channel;
        const run = account.run(asked, 'social.message.send', { recipient_actor_id, body: 'Hello' });
        await run.expect('boundary');
        run.proceed();
        const failure = await run.expect('failure');
        t.match(failure, { transient: false, pastBoundary: true });
        t.match(failure.progress, { request: { sent: 'yes', at: TIMESTAMP }, answer }, 'what is known goes with it');
        t.equal((await arrived()).length, sent);
      });
    }

    longTest(t, 'a running time that ends while the answer is waited for leaves open what happened', async (t) => {
      await fault('hang');
      const message = { recipient_actor_id, body: 'Hello' };
      const run = account.run(channel, 'social.message.send', message, { deadline_ms: 1_500 });
      await run.expect('boundary');
      run.proceed();
      const failure = await run.expect('failure');
      t.match(failure, { code: 'deadline_exceeded', transient: false, pastBoundary: true });
      t.match(failure.progress, { request: { sent: 'yes', at: TIMESTAMP }, answer: null });
    });

    t.test("the provider's refusal is definite", async (t) => {
      await fault('error', 409);
      const run = account.run(channel, 'social.message.send', { recipient_actor_id, body: 'Hello' });
      await run.expect('boundary');
      run.proceed();
      const failure = await run.expect('failure');
      t.match(failure, { code: 'upstream_error', details: { upstream_status: 409 }, transient: false });
      t.notOk(failure.pastBoundary);
      t.match(failure.progress, { answer: { status: 409 } });
      const unknown = account.run(channel, 'social.message.send', { recipient_actor_id: 'ACoAAnobody', body: 'Hello' });
      await unknown.expect('boundary');
      unknown.proceed();
      t.match(await unknown.expect('failure'), { code: 'provider_not_found' });
    });

    t.test('a message or an invitation to oneself is skipped before it leaves', async (t) => {
      const own = { recipient_actor_id: account.actorId };
      for (const [capability, input] of [
        ['social.message.send', { ...own, body: 'Note' }],
        ['social.invitation.send', own],
      ] as const)
        t.match(await account.run(channel, capability, input).expect('skipped'), { reason: 'self_target' }, capability);
      t.same(await arrived(), []);
    });
  });
}
