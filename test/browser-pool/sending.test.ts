import t from 'tap';
import { SITES } from '../fixture/network.js';
import { Account } from './account.js';
import { poolFixture } from './fixture.js';

const TIMESTAMP = /^\d{4}-.*Z$/;

for (const name of SITES) {
  t.test(`sending a message, on ${name}`, async (t) => {
    const { network, channel, shortTimeouts } = await poolFixture(t, {}, name);

    async function sender(username: string): Promise<{ account: Account; recipient_actor_id: string }> {
      const account = new Account(network, username);
      await account.login(channel);
      const { result } = await account
        .run(channel, 'social.people.search', { keywords: 'berlin', count: 1 })
        .expect('result');
      const [person] = result.people as { hash_id: string }[];
      return { account, recipient_actor_id: person?.hash_id ?? '' };
    }

    t.test('nothing leaves before the boundary is passed, and then exactly one message', async (t) => {
      const { account, recipient_actor_id } = await sender('ada');
      const run = account.run(channel, 'social.message.send', { recipient_actor_id, body: 'Hello' });
      await run.expect('boundary');
      t.same(await network.ledger('ada'), []);
      run.proceed();
      const { result } = await run.expect('result');
      t.match(result, { provider_acknowledged: true, destination: { recipient_actor_id }, message_id: /^urn:/ });
      const entries = await network.ledger('ada');
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
      const { account, recipient_actor_id } = await sender('grace');
      const run = account.run(channel, 'social.message.send', { recipient_actor_id, body: 'Hello' });
      await run.expect('boundary');
      run.cancel();
      run.proceed();
      t.match(await run.expect('failure'), { code: 'canceled' });
      t.same(await network.ledger('grace'), []);
    });

    t.test('a cancel past the boundary comes too late', async (t) => {
      const { account, recipient_actor_id } = await sender('edsger');
      const run = account.run(channel, 'social.message.send', { recipient_actor_id, body: 'Hello' });
      await run.expect('boundary');
      run.proceed();
      run.cancel();
      await run.expect('result');
      t.equal((await network.ledger('edsger')).length, 1);
    });

    t.test('a boundary that is not answered is given up with nothing sent', async (t) => {
      const { account, recipient_actor_id } = await sender('linus');
      const run = account.run(shortTimeouts(), 'social.message.send', { recipient_actor_id, body: 'Hello' });
      await run.expect('boundary');
      const failure = await run.expect('failure');
      t.match(failure, { code: 'session_fenced', transient: true, pastBoundary: false, unsent: true });
      t.equal(failure.progress, undefined, 'there was no request');
      t.same(await network.ledger('linus'), []);
    });

    for (const [mode, username, sent, answer] of [
      ['drop_before_commit', 'barbara', 0, null],
      ['drop_after_commit', 'donald', 1, null],
      ['hang', 'radia', 0, null],
      ['malformed', 'tim', 1, { status: 200 }],
      ['error_after_commit', 'margaret', 1, { status: 500 }],
      ['error', 'frances', 0, { status: 500 }],
    ] as const) {
      t.test(`a lost answer (${mode}) is never tried again and leaves open what happened`, async (t) => {
        const { account, recipient_actor_id } = await sender(username);
        await network.fault({ account: username, capability: 'social.message.send', mode, times: 1 });
        const asked = mode === 'hang' ? shortTimeouts() : channel;
        const run = account.run(asked, 'social.message.send', { recipient_actor_id, body: 'Hello' });
        await run.expect('boundary');
        run.proceed();
        const failure = await run.expect('failure');
        t.match(failure, { transient: false, pastBoundary: true });
        t.match(failure.progress, { request: { sent: 'yes', at: TIMESTAMP }, answer }, 'what is known goes with it');
        t.equal((await network.ledger(username)).length, sent);
      });
    }

    t.test('a running time that ends while the answer is waited for leaves open what happened', async (t) => {
      const { account, recipient_actor_id } = await sender('dennis');
      await network.fault({ account: 'dennis', capability: 'social.message.send', mode: 'hang', times: 1 });
      const message = { recipient_actor_id, body: 'Hello' };
      const run = account.run(channel, 'social.message.send', message, { deadline_ms: 1_500 });
      await run.expect('boundary');
      run.proceed();
      const failure = await run.expect('failure');
      t.match(failure, { code: 'deadline_exceeded', transient: false, pastBoundary: true });
      t.match(failure.progress, { request: { sent: 'yes', at: TIMESTAMP }, answer: null });
    });

    t.test("the provider's refusal is definite", async (t) => {
      const { account, recipient_actor_id } = await sender('vint');
      await network.fault({ account: 'vint', capability: 'social.message.send', mode: 'error', status: 409, times: 1 });
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

    t.test('a message to oneself is skipped', async (t) => {
      const { account } = await sender('alan');
      const own = { recipient_actor_id: account.actorId, body: 'Note' };
      t.match(await account.run(channel, 'social.message.send', own).expect('skipped'), { reason: 'self_target' });
      t.same(await network.ledger('alan'), []);
    });
  });
}
