import t from 'tap';
import { SITES } from '../../../fixture/network.js';
import { Account } from '../../account.js';
import { poolFixture } from '../../fixture.js';

for (const name of SITES) {
  t.test(`the recruiter side, on ${name}`, async (t) => {
    const { network, channel } = await poolFixture(t, {}, name);

    async function signedIn(username: string): Promise<Account> {
      const account = new Account(network, username);
      await account.login(channel);
      return account;
    }

    t.test('a session whose contract is gone needs a switch', async (t) => {
      const account = await signedIn('ada');
      for (const [capability, input] of [
        ['social.recruiter.typeahead', { kind: 'skill', keyword: 'a' }],
        ['social.recruiter.people.search', { networks: ['F'] }],
      ] as const) {
        t.match(await account.run(channel, capability, input).expect('failure'), {
          code: 'recruiter_not_ready',
          details: { reason: 'contract_required' },
          transient: false,
          effects: { recruiter: { health: 'needs_switch', reason: 'contract_required', contract: null } },
        });
      }
    });

    t.test('a switch whose search fails publishes nothing', async (t) => {
      const account = await signedIn('grace');
      const run = () => account.run(channel, 'social.recruiter.switch');
      await run().expect('result');
      await network.account({ username: 'grace', recruiter: false });
      const failure = await run().expect('failure');
      t.match(failure, { code: 'recruiter_not_ready', details: { reason: 'no_seat' } });
      t.equal(failure.effects?.session, undefined);
      await network.account({ username: 'grace', recruiter: true });
      const { effects } = await run().expect('result');
      t.match(effects, { session: String, recruiter: { health: 'ready', contract: 'Northwind Hiring' } });
    });

    t.test('a captcha can only be waited for; a check nobody knows ends it', async (t) => {
      const account = await signedIn('alan+switch-captcha');
      const run = account.run(channel, 'social.recruiter.switch');
      t.match(await run.expect('challenge'), { kind: 'captcha', acceptsCode: false });
      run.cancel();
      t.match(await run.expect('failure'), { code: 'canceled' });
      await network.account({ username: account.username, recruiter_challenge: 'passkey' });
      t.match(await account.run(channel, 'social.recruiter.switch').expect('failure'), {
        code: 'challenge_unsupported',
      });
    });

    t.test('a filter the provider finds senseless is the caller’s', async (t) => {
      const account = await signedIn('edsger');
      account.learn((await account.run(channel, 'social.recruiter.switch').expect('result')).effects);
      const senseless = { yoe: { min: 9, max: 3 } };
      t.match(await account.run(channel, 'social.recruiter.people.search', senseless).expect('failure'), {
        code: 'validation_error',
        details: { reason: 'refused_by_provider', upstream_status: name === 'guild' ? 406 : 422 },
      });
    });
  });
}
