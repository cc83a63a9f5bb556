import t from 'tap';
import { control, faultsSpent } from '../fixture/client.js';
import { browsersBelow } from '../fixture/processes.js';
import { serviceFixture, startService } from '../fixture/service.js';

t.test('a browser that is killed is replaced, and other connections do not notice', async (t) => {
  const {
    client,
    sandboxUrl,
    process: service,
  } = await startService(t, await serviceFixture(t, { ACTOR_THREADS: '2' }));
  const connection = await client.connect({ provider: 'social', username: 'ada', password: 'sandbox', region: 'US' });
  t.match(await client.run(connection, 'social.login'), { status: 'succeeded' });
  const bystander = await client.connect({ provider: 'simulated', external_actor: { kind: 'person', id: 'simon' } });

  await control(sandboxUrl, 'POST', '/faults', {
    capability: 'social.health.check',
    mode: 'delay',
    ms: 2_000,
    times: 1,
  });
  const running = await client.submit(connection, 'social.health.check');
  await faultsSpent(sandboxUrl);
  const browsers = browsersBelow(service.pid!);
  t.equal(browsers.length, 1, 'one browser a thread');
  process.kill(browsers[0]!, 'SIGKILL');
  const other = await client.run(bystander, 'social.identity.get');
  t.match(other, { status: 'succeeded', attempts: [{ number: 1 }] });
  const done = await client.settled(running.body.id);
  t.match(done, { status: 'succeeded' }, 'a read is tried again on the next browser');
  t.ok(done.attempts.length > 1, 'the attempt in the killed browser is on record');
  const replaced = browsersBelow(service.pid!);
  t.equal(replaced.length, 1, 'by one');
  t.not(replaced[0], browsers[0]);
});
