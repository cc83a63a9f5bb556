import t from 'tap';
import { SITES } from '../../../fixture/network.js';
import { Account } from '../../account.js';
import { poolFixture } from '../../fixture.js';

/** An attachment as each site shows it. */
const CONTENT = {
  social: { attachment: { name: 'a b.txt', contentType: 'text/plain; charset=utf-8' } },
  guild: { upload: { label: 'a b.txt', media_type: 'text/plain; charset=utf-8' } },
};

for (const name of SITES) {
  t.test(`attachments, on ${name}`, async (t) => {
    const { network, channel } = await poolFixture(t, {}, name);

    async function sender(username: string): Promise<{ account: Account; strangers: string[] }> {
      const account = new Account(network, username);
      await account.login(channel);
      const search = { filters: { network: 'O' }, count: 5 };
      const { result } = await account.run(channel, 'social.people.search', search).expect('result');
      return { account, strangers: (result.people as { hash_id: string }[]).map((person) => person.hash_id) };
    }
    const file = { filename: 'a b.txt', content_type: 'text/plain; charset=utf-8', data_base64: 'YWJj' };

    t.test('an upload alone sends nothing', async (t) => {
      const { account, strangers } = await sender('grace');
      const input = { recipient_actor_id: strangers[0], ...file };
      const canceled = account.run(channel, 'social.attachment.send', input);
      await canceled.expect('boundary');
      canceled.cancel();
      canceled.proceed();
      t.match(await canceled.expect('failure'), { code: 'canceled' });
      await network.fault({ account: 'grace', mode: 'error', status: 500, times: 1 });
      const refused = await account.run(channel, 'social.attachment.send', input).expect('failure');
      t.match(refused, { code: 'upstream_error', details: { upstream_status: 500 } });
      t.notOk(refused.details?.past_boundary, 'nothing is left open');
      t.strictSame(await network.ledger('grace'), []);

      const sent = account.run(channel, 'social.attachment.send', input);
      await sent.expect('boundary');
      sent.proceed();
      const { conversation_id } = (await sent.expect('result')).result;
      const { result } = await account.run(channel, 'social.messages.list', { conversation_id }).expect('result');
      t.match(result.messages, [{ render_content: [CONTENT[name]] }]);
    });

    t.test('somebody nobody knows is a definite refusal', async (t) => {
      const { account } = await sender('alan');
      for (const [capability, input] of [
        ['social.invitation.send', {}],
        ['social.attachment.send', file],
      ] as const) {
        const run = account.run(channel, capability, { recipient_actor_id: 'ACoAAnobody', ...input });
        await run.expect('boundary');
        run.proceed();
        const failure = await run.expect('failure');
        t.match(failure, { code: 'provider_not_found', transient: false });
        t.notOk(failure.details?.past_boundary);
      }
      t.strictSame(await network.ledger('alan'), []);
    });
  });
}
