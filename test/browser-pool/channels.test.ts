import t from 'tap';
import { longTest } from '../fixture/size.js';
import { Account } from './account.js';
import { poolFixture } from './fixture.js';

t.test('sessions and channels', async (t) => {
  const { network, channel, pool } = await poolFixture(t, {
    contexts: 2,
    running_runs: 1,
  });
  const account = new Account(network, 'edsger');
  await account.login(channel);

  t.test('a lower state_revision than seen before is fenced', async (t) => {
    await account.run(channel, 'social.identity.get', {}, { stateRevision: 5 }).expect('result');
    t.match(await account.run(channel, 'social.identity.get', {}, { stateRevision: 4 }).expect('failure'), {
      code: 'session_fenced',
    });
    account.stateRevision = 5;
  });

  longTest(t, 'another epoch gets a context of its own, and a lower one none', async (t) => {
    // Saved elsewhere in between: the same revision, other cookies. Only a new context can know them.
    const moved = new Account(network, 'moved');
    await moved.login(channel);
    await moved.run(channel, 'social.identity.get').expect('result');
    await network.account({ username: 'moved', end_sessions: true });
    const elsewhere = new Account(network, 'moved');
    const { effects } = await elsewhere
      .run(channel, 'social.login', {}, { connectionId: 'elsewhere' })
      .expect('result');
    moved.session = effects?.session ?? null;
    await moved.run(channel, 'social.identity.get', {}, { epoch: 2 }).expect('result');
    t.match(await moved.run(channel, 'social.identity.get', {}, { epoch: 1 }).expect('failure'), {
      code: 'session_fenced',
    });
    await moved.run(channel, 'social.identity.get', {}, { epoch: 2 }).expect('result');
  });

  longTest(t, 'closing a connection ends its run', async (t) => {
    const run = account.run(channel, 'social.message.send', { recipient_actor_id: 'ACoAAnobody', body: 'Hello' });
    await run.expect('boundary');
    channel.closeConnection(account.connectionId);
    t.match(await run.expect('failure'), { code: 'session_fenced' });
  });

  longTest(t, 'a retired context serves no further run; the run that holds it ends as it would', async (t) => {
    const retired = new Account(network, 'retired');
    await retired.login(channel);
    const run = retired.run(channel, 'social.invitation.send', { recipient_actor_id: 'ACoAAnobody' });
    await run.expect('boundary');
    const { contexts } = await channel.stats(({ running }) => running === 1);
    channel.retire(retired.connectionId);
    run.proceed();
    t.match(await run.expect('failure'), { code: 'provider_not_found', pastBoundary: false });
    await channel.stats((stats) => stats.running === 0 && stats.contexts === contexts - 1);
    await retired.run(channel, 'social.identity.get').expect('result');
  });

  t.test('a warm context does not go on leaving through a proxy that is another by now', async (t) => {
    const { server } = network.proxy;
    await account.run(channel, 'social.identity.get').expect('result');
    const gone = { ...network.proxy, server: server.replace(/[0-9]+$/, '9') };
    t.match(await account.run(channel, 'social.identity.get', {}, { proxy: gone }).expect('failure'), {
      code: 'proxy_error',
    });
  });

  longTest(t, 'a restarted actor host gets a channel of its own; the runs on the old one end', async () => {
    const first = pool.connect();
    const run = account.run(first, 'social.message.send', { recipient_actor_id: 'ACoAAnobody', body: 'Hello' });
    await run.expect('boundary');
    first.close();
    const second = pool.connect();
    await account.run(second, 'social.identity.get').expect('result');
    second.close();
  });

  t.test('a capability without a program is refused', async (t) => {
    t.match(await account.run(channel, 'social.unknown.capability').expect('failure'), {
      code: 'validation_error',
      details: { reason: 'capability_not_available_on_provider' },
    });
  });

  longTest(t, 'a run has its deadline', async (t) => {
    await network.fault({ account: 'edsger', capability: 'social.identity.get', mode: 'hang', times: 1 });
    const run = account.run(channel, 'social.identity.get', {}, { deadline_ms: 300 });
    t.match(await run.expect('failure'), { code: /deadline_exceeded|upstream_timeout/ });
  });

  longTest(t, 'runs that wait are refused for nothing but the end of their own operation', async (t) => {
    const holder = account.run(channel, 'social.message.send', { recipient_actor_id: 'ACoAAnobody', body: 'Hello' });
    await holder.expect('boundary');
    const orders = ['q1', 'q2', 'q3'].map((name) => new Account(network, name).order('social.login'));
    const [given, ...others] = orders.map((order) => channel.run({ ...order, deadline_ms: 20_000 }));
    given?.cancel();
    t.match(await given?.expect('failure'), { code: 'canceled' });
    t.equal((await channel.stats((stats) => stats.queued === 2)).running, 1);
    t.ok(
      others.every((run) => run.silent && run.clock.length === 0),
      'their clocks have not begun',
    );
    holder.cancel();
    await holder.expect('failure');
    for (const run of others) {
      await run.expect('result');
      t.equal(run.clock[0], true);
    }
  });

  longTest(t, 'no more contexts stay warm than the limit', async (t) => {
    for (const name of ['w1', 'w2', 'w3']) {
      const other = new Account(network, name);
      await other.login(channel);
      await other.run(channel, 'social.identity.get').expect('result');
    }
    t.equal((await channel.stats((stats) => stats.running === 0)).contexts, 2);
  });

  t.test('a proxy that refuses or is not there is proxy_error, for pages and for endpoints', async (t) => {
    const other = new Account(network, 'proxied');
    await other.login(channel);
    const refusing = { ...network.proxy, password: 'wrong' };
    const gone = { id: 'gone', server: 'http://127.0.0.1:9' };
    for (const [proxy, transient] of [
      [refusing, false],
      [gone, true],
    ] as const) {
      for (const capability of ['social.health.check', 'social.identity.get']) {
        other.stateRevision += 1;
        const failure = await other.run(channel, capability, {}, { proxy }).expect('failure');
        t.match(failure, { code: 'proxy_error' }, `${capability} through ${proxy.id}`);
        t.equal(failure.transient, transient);
      }
    }
  });
});
