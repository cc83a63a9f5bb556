import t from 'tap';
import { control, faultsSpent, ledger } from '../fixture/client.js';
import { browsersBelow } from '../fixture/processes.js';
import { serviceFixture, startService } from '../fixture/service.js';

/** One capability a family, to be caught in the middle. */
const READS: [family: string, capability: string, input: object][] = [
  ['session', 'social.health.check', {}],
  ['identity', 'social.identity.get', {}],
  ['discovery', 'social.people.search', { keywords: 'engineer' }],
  ['conversations', 'social.conversations.list', {}],
  ['recruiter', 'social.recruiter.people.search', { keywords: 'engineer' }],
];

t.test('a browser killed in the middle of an operation', async (t) => {
  const {
    client,
    sandboxUrl,
    process: service,
  } = await startService(t, await serviceFixture(t, { ACTOR_THREADS: '2' }));
  const connect = async (username: string) => {
    const id = await client.connect({ provider: 'social', username, password: 'sandbox', region: 'us' });
    t.match(await client.run(id, 'social.login'), { status: 'succeeded' });
    return id;
  };
  const [own, other] = [await connect('ada'), await connect('grace')];
  t.match(await client.run(own, 'social.recruiter.switch', { contract: 'executive' }), { status: 'succeeded' });
  const { result } = await client.run(own, 'social.people.search', { keywords: 'engineer', count: 1 });
  const [person] = result.people as { hash_id: string }[];

  /** Submits, waits until the network holds the request, and kills every browser. */
  const caught = async (capability: string, input: object) => {
    await control(sandboxUrl, 'POST', '/faults', { account: 'ada', capability, mode: 'hang', times: 1 });
    const submitted = await client.submit(own, capability, input);
    await faultsSpent(sandboxUrl);
    for (const pid of browsersBelow(service.pid ?? 0)) process.kill(pid, 'SIGKILL');
    return submitted.body.id;
  };

  for (const [family, capability, input] of READS) {
    await t.test(`of the family ${family} is tried again, and others are not harmed`, async (t) => {
      const id = await caught(capability, input);
      t.match(await client.run(other, 'social.identity.get'), { status: 'succeeded' });
      const operation = await client.settled(id);
      t.equal(operation.status, 'succeeded', operation.error_code ?? '');
      t.ok(operation.attempts.length > 1, 'on another attempt');
    });
  }

  await t.test('of the family sending ends outcome_unknown and is never sent again', async (t) => {
    const id = await caught('social.message.send', { recipient_actor_id: person?.hash_id, body: 'Once' });
    const operation = await client.settled(id);
    t.equal(operation.status, 'outcome_unknown');
    t.equal(operation.attempts.length, 1);
    t.match(operation.evidence, { fault: 'browser_unavailable', request: { sent: 'yes' }, answer: null });
    t.ok((await ledger(sandboxUrl, 'ada')).length <= 1);
    t.match(await client.run(own, 'social.identity.get'), { status: 'succeeded' });
  });
});
