import t from 'tap';
import { StreamClient, type StreamEnd } from '../../../../browser-pool/social/access/stream.js';
import { Network, SITES } from '../../../fixture/network.js';
import { Account } from '../../account.js';
import { Pool } from '../../pool.js';

/** What the site does to a session in mid use, and how an operation says so. */
const SHOWN = { checkpoint: 'checkpoint', sign_in_page: undefined, endless_redirects: 'endless_redirects' } as const;

const FILES = { social: 'files.social.test', guild: 'media.guild.test' };

for (const name of SITES) {
  t.test(`a site that takes a session for over in mid use, on ${name}`, async (t) => {
    const network = await Network.start(name);
    t.teardown(() => network.close());
    const pool = new Pool(network.site);
    t.teardown(() => pool.close());
    const { channel } = pool;
    const account = new Account(network, 'ada');
    await account.login(channel);
    const { session } = account;
    if (session === null || account.actorId === null) throw new Error('not signed in');
    const { result } = await account
      .run(channel, 'social.people.search', { keywords: 'berlin', count: 1 })
      .expect('result');
    const [person] = result.people as { hash_id: string }[];
    const asked: [capability: string, input: Record<string, unknown>][] = [
      ['social.identity.get', {}],
      ['social.health.check', {}],
      ['social.recruiter.switch', {}],
      ['social.file.download', { url: `https://${FILES[name]}/samples/4.bin` }],
      ['social.message.send', { recipient_actor_id: person?.hash_id, body: 'hello' }],
    ];

    for (const [mode, reason] of Object.entries(SHOWN)) {
      for (const [capability, input] of asked) {
        // The address of a file is the client's: that it leads to itself says nothing of the session.
        if (mode === 'endless_redirects' && capability === 'social.file.download') continue;
        await t.test(`${mode}: ${capability}`, async (t) => {
          await network.fault({ account: 'ada', capability, mode });
          const run = account.run(channel, capability, input);
          if (capability === 'social.message.send') {
            await run.expect('boundary');
            run.proceed();
          }
          const failure = await run.expect('failure');
          await network.clearFaults();
          t.match(failure, { code: 'authentication_failed', transient: false, effects: { health: 'needs_login' } });
          t.equal(failure.details?.reason, reason);
        });
      }

      await t.test(`${mode}: the event stream`, async (t) => {
        const client = new StreamClient(network.site);
        t.teardown(() => client.close());
        await network.fault({ account: 'ada', mode, times: 1 });
        const ended = new Promise<StreamEnd>((onEnd) => {
          const { signal } = new AbortController();
          client.open({ session, proxy: network.proxy, signal, onFrame: () => undefined, onEnd });
        });
        t.same(await ended, { reason: 'logged_out' });
      });
    }

    await t.test('a login leads through the check', async (t) => {
      await network.account({ username: 'ada', challenge: 'email', end_sessions: true });
      const run = account.run(channel, 'social.login');
      t.match(await run.expect('challenge'), { kind: 'email' });
      run.cancel();
      await run.expect('failure');
    });
  });
}
