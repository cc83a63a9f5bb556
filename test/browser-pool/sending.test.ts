import t from 'tap';
import { Account } from './account.js';
import { poolFixture } from './fixture.js';

t.test('sending a message', async (t) => {
  const { network, channel, shortTimeouts } = await poolFixture(t);

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
    t.same(await network.ledger('linus'), []);
  });

  for (const [mode, username, sent] of [
    ['drop_before_commit', 'barbara', 0],
    ['drop_after_commit', 'donald', 1],
    ['hang', 'radia', 0],
    ['malformed', 'tim', 1],
  ] as const) {
    t.test(`a lost answer (${mode}) is never tried again and leaves open what happened`, async (t) => {
      const { account, recipient_actor_id } = await sender(username);
      await network.fault({ account: username, capability: 'social.message.send', mode, times: 1 });
      const asked = mode === 'hang' ? shortTimeouts() : channel;
      const run = account.run(asked, 'social.message.send', { recipient_actor_id, body: 'Hello' });
      await run.expect('boundary');
      run.proceed();
      t.match(await run.expect('failure'), { transient: false, pastBoundary: true });
      t.equal((await network.ledger(username)).length, sent);
    });
  }

  t.test("the provider's refusal is definite", async (t) => {
    const { account, recipient_actor_id } = await sender('vint');
    await network.fault({ account: 'vint', capability: 'social.message.send', mode: 'error', status: 500, times: 1 });
    const run = account.run(channel, 'social.message.send', { recipient_actor_id, body: 'Hello' });
    await run.expect('boundary');
    run.proceed();
    const failure = await run.expect('failure');
    t.match(failure, { code: 'upstream_error', details: { upstream_status: 500 }, transient: false });
    t.notOk(failure.pastBoundary);
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
