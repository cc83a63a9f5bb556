import t from 'tap';
import { SITES } from '../fixture/network.js';
import { longTest, sized } from '../fixture/size.js';
import { Account } from './account.js';
import { poolFixture } from './fixture.js';

for (const name of SITES) {
  t.test(`login, on ${name}`, async (t) => {
    const { network, channel, shortTimeouts } = await poolFixture(
      t,
      { waiting_page_ms: 50, challenge_look_ms: 300, challenge_look_cap_ms: 300 },
      name,
    );

    t.test('signs in and gives a session that works in a fresh context', async (t) => {
      const account = new Account(network, 'ada');
      const { result, effects } = await account.run(channel, 'social.login').expect('result');
      t.same(result, { reason: 'login_succeeded' });
      t.equal(effects?.health, 'ready');
      t.match(
        effects?.session ?? '',
        name === 'guild' ? /"gd\.device"/ : /"sn\.device"/,
        'what the site keeps in the browser is part of it',
      );
      account.learn(effects);
      const health = await account.run(channel, 'social.health.check').expect('result');
      t.same(health.result, { health: 'ready', actor_id: account.actorId });
    });

    for (const kind of sized(['email'] as const, ['email', 'sms', 'authenticator'] as const)) {
      t.test(`passes a challenge by ${kind} on, and again after a wrong code`, async (t) => {
        const account = new Account(network, `grace+${kind}`);
        const run = account.run(channel, 'social.login');
        t.match(await run.expect('challenge'), { kind, acceptsCode: true });
        run.code('123456');
        t.match(await run.expect('challenge'), { kind, acceptsCode: true });
        run.code('000000');
        account.learn((await run.expect('result')).effects);
        await account.run(channel, 'social.identity.get').expect('result');
      });
    }

    longTest(t, 'a login that waits for long has no page open and goes on where it was', async (t) => {
      const account = new Account(network, 'slow+email');
      const run = account.run(channel, 'social.login');
      await run.expect('challenge');
      const stats = await channel.stats((stats) => stats.pages === 0);
      t.equal(stats.running, 0, 'and holds no slot');
      t.equal(stats.contexts > 0, true);
      run.code('000000');
      await run.expect('result');
    });

    t.test('an approval is looked for until it is given, without a page or a slot between two looks', async (t) => {
      const account = new Account(network, 'ida+approval');
      const run = account.run(channel, 'social.login');
      t.match(await run.expect('challenge'), { kind: 'approval', acceptsCode: false });
      await channel.stats((stats) => stats.pages === 0 && stats.running === 0);
      const capability = 'social.login';
      await network.fault({ account: account.username, capability, mode: 'drop_before_commit', times: 2 });
      await network.faultsSpent(); // looks that fail are not the end
      await network.account({ username: account.username, approve: true });
      await run.expect('challengeEnded');
      run.code('');
      account.learn((await run.expect('result')).effects);
      await account.run(channel, 'social.identity.get').expect('result');
    });

    longTest(
      t,
      'an approval that is denied ends the login, and one that is cancelled is looked for no more',
      async (t) => {
        const account = new Account(network, 'ned+approval');
        const denied = account.run(channel, 'social.login');
        await denied.expect('challenge');
        await network.account({ username: account.username, approve: false });
        t.match(await denied.expect('failure'), { code: 'challenge_expired', transient: false });
        const canceled = account.run(channel, 'social.login');
        await canceled.expect('challenge');
        canceled.cancel();
        t.match(await canceled.expect('failure'), { code: 'canceled' });
      },
    );

    longTest(t, 'a captcha accepts no code and ends when it is cancelled', async (t) => {
      const run = new Account(network, 'kay+captcha').run(channel, 'social.login');
      t.match(await run.expect('challenge'), { kind: 'captcha', acceptsCode: false });
      run.cancel();
      t.match(await run.expect('failure'), { code: 'canceled', transient: false });
    });

    longTest(t, 'a challenge of an unknown kind is unsupported', async (t) => {
      const failure = await new Account(network, 'kay+passkey').run(channel, 'social.login').expect('failure');
      t.equal(failure.code, 'challenge_unsupported');
    });

    longTest(t, 'a picture that never ends holds no sign-in up', async () => {
      const account = new Account(network, 'pat');
      await network.fault({ account: 'pat', mode: 'endless_picture' });
      await account.run(channel, 'social.login').expect('result');
    });

    longTest(t, 'what fails once the password has left is not tried again', async (t) => {
      const account = new Account(network, 'quin');
      await network.fault({ account: 'quin', capability: 'social.identity.get', mode: 'hang', times: 1 });
      const failure = await account.run(shortTimeouts(), 'social.login').expect('failure');
      t.match(failure, { code: 'upstream_timeout', transient: false });
    });

    longTest(t, 'a restricted account makes the connection invalid', async (t) => {
      const failure = await new Account(network, 'kay+restricted').run(channel, 'social.login').expect('failure');
      t.match(failure, { code: 'provider_restricted', effects: { health: 'invalid' }, transient: false });
    });

    t.test('a wrong password is authentication_failed', async (t) => {
      const account = new Account(network, 'mallory');
      account.password = 'guess';
      const failure = await account.run(channel, 'social.login').expect('failure');
      t.match(failure, { code: 'authentication_failed', details: { reason: 'bad_credentials' } });
    });

    t.test('on a live session it verifies that one, unless it is to reconnect', async (t) => {
      const account = new Account(network, 'linus');
      await account.login(channel);
      const verified = await account.run(channel, 'social.login').expect('result');
      t.same(verified.result, { reason: 'login_succeeded' });
      t.same(verified.effects, { health: 'ready', actorId: account.actorId }, 'no new session');
      const fresh = await account.run(channel, 'social.login', { reconnect: true }).expect('result');
      t.ok(fresh.effects?.session);
      t.not(fresh.effects?.session, account.session);
    });

    longTest(t, 'on a session that ended it makes a new one', async (t) => {
      const account = new Account(network, 'edsger');
      await account.login(channel);
      await network.account({ username: account.username, end_sessions: true });
      const { effects } = await account.run(channel, 'social.login').expect('result');
      t.ok(effects?.session);
    });

    t.test('another account than the connection had is a mismatch, and changes nothing', async (t) => {
      const account = new Account(network, 'donald');
      await account.login(channel);
      account.actorId = 'ACoAAsomebodyElse';
      const failure = await account.run(channel, 'social.login', { reconnect: true }).expect('failure');
      t.match(failure, { code: 'identity_mismatch', transient: false });
      t.equal(failure.effects, undefined);
    });

    longTest(t, 'what it does not understand is parsing_error', async (t) => {
      await network.fault({ account: 'garbled', capability: 'social.login', mode: 'malformed', times: 1 });
      const failure = await new Account(network, 'garbled').run(channel, 'social.login').expect('failure');
      t.equal(failure.code, 'parsing_error');
    });
  });
}

for (const name of SITES) {
  longTest(t, `health check, on ${name}`, async (t) => {
    const { network, channel } = await poolFixture(t, {}, name);

    t.test('a session that ended needs a login', async (t) => {
      const account = new Account(network, 'barbara');
      await account.login(channel);
      await network.account({ username: account.username, end_sessions: true });
      t.match(await account.run(channel, 'social.health.check').expect('failure'), {
        code: 'authentication_failed',
        effects: { health: 'needs_login' },
      });
    });

    t.test('another account than the connection had is a mismatch', async (t) => {
      const account = new Account(network, 'donald');
      await account.login(channel);
      account.actorId = 'ACoAAsomebodyElse';
      t.match(await account.run(channel, 'social.health.check').expect('failure'), {
        code: 'identity_mismatch',
        effects: { health: 'invalid' },
      });
    });

    t.test('trouble of the provider leaves the health alone', async (t) => {
      const account = new Account(network, 'radia');
      await account.login(channel);
      await network.fault({
        account: 'radia',
        capability: 'social.health.check',
        mode: 'error',
        status: 503,
        times: 1,
      });
      const failure = await account.run(channel, 'social.health.check').expect('failure');
      t.match(failure, { code: 'upstream_error', details: { upstream_status: 503 } });
      t.equal(failure.effects, undefined);
      await account.run(channel, 'social.health.check').expect('result');
    });

    t.test('a session used through another region is ended by the site', async (t) => {
      const account = new Account(network, 'tim');
      await account.login(channel);
      const elsewhere = network.proxies.find((proxy) => proxy.id !== network.proxy.id);
      if (!elsewhere) throw new Error('one region only');
      const run = account.run(channel, 'social.health.check', {}, { proxy: elsewhere, stateRevision: 2 });
      t.match(await run.expect('failure'), { code: 'authentication_failed' });
    });
  });
}
