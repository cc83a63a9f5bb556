import t from 'tap';
import { Account } from './account.js';
import { poolFixture } from './fixture.js';

t.test('sessions that their site renews', async (t) => {
  const { network, channel } = await poolFixture(t, { contexts: 1 });
  const renewing = async (username: string, renew_session_every: number | null = 1) => {
    const account = new Account(network, username);
    await account.login(channel);
    await network.account({ username, renew_session_every });
    return account;
  };
  const read = (account: Account) => account.run(channel, 'social.identity.get').expect('result');
  /** The session as it was reported last; the test stores it as the actor would. */
  const stored = (account: Account) => {
    const last = channel.renewed.at(-1);
    t.match(last, { connectionId: account.connectionId, stateRevision: account.stateRevision, base: account.session });
    account.session = last?.session ?? null;
  };

  t.test('nothing is reported where nothing was renewed', async (t) => {
    const account = await renewing('plain', null);
    await read(account);
    await account.run(channel, 'social.health.check').expect('result');
    t.strictSame(channel.renewed, []);
  });

  t.test('a renewal is reported before the end of its run, and the warm context goes on with it', async (t) => {
    const account = await renewing('ada');
    for (const number of [1, 2, 3]) {
      const before = channel.renewed.length;
      await read(account);
      t.equal(channel.renewed.length, before + 1, `number ${number}`);
      stored(account);
    }
  });

  t.test('a renewal that was not stored is reported again', async (t) => {
    const account = await renewing('grace');
    await read(account);
    const [base, lost] = [account.session, channel.renewed.at(-1)?.session];
    await read(account);
    const again = channel.renewed.at(-1);
    t.match(again, { base });
    t.not(again?.session, lost);
  });

  t.test('a context that has to go leaves its session as the site knows it', async (t) => {
    const account = await renewing('edsger');
    await read(account);
    stored(account);
    await read(await renewing('another', null));
    await channel.stats(({ contexts, running }) => running === 0 && contexts === 1);
    await read(account);
    t.pass('a new one goes on with it');
  });

  t.test('a run that is stopped leaves its session as well', async (t) => {
    const account = await renewing('stopped', 2);
    await read(account);
    await network.fault({ account: 'stopped', capability: 'social.people.search', mode: 'hang', times: 1 });
    const run = account.run(channel, 'social.people.search', { filters: { location_name: 'Berlin' } });
    await network.faultsSpent();
    run.cancel();
    t.match(await run.expect('failure'), { code: 'canceled' });
    stored(account);
    await read(account);
    t.pass('it goes on');
  });

  t.test('a session that the site ends is not reported as a renewed one', async (t) => {
    const account = await renewing('ended', null);
    await read(account);
    const before = channel.renewed.length;
    await network.account({ username: 'ended', end_sessions: true });
    t.match(await account.run(channel, 'social.identity.get').expect('failure'), {
      code: 'authentication_failed',
      effects: { health: 'needs_login' },
    });
    t.equal(channel.renewed.length, before);
  });
});
