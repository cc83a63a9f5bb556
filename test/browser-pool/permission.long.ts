import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { FaultyLink } from '../../bench/scenarios/chaos/link.js';
import { Account } from './account.js';
import { poolFixture } from './fixture.js';

const UNSENT = { code: 'session_fenced', transient: true, pastBoundary: false, unsent: true };

t.test('the permission to send runs out', async (t) => {
  const { network, pool, channel, shortTimeouts } = await poolFixture(t);

  async function sender(username: string) {
    const account = new Account(network, username);
    await account.login(channel);
    const { result } = await account
      .run(channel, 'social.people.search', { keywords: 'berlin', count: 1 })
      .expect('result');
    const [person] = result.people as { hash_id: string }[];
    return { account, input: { recipient_actor_id: person?.hash_id, body: 'Hello' } };
  }

  /** A sender whose proxy stands behind a link that can fail by halves. */
  async function linkedSender(username: string) {
    const link = await FaultyLink.open(Number(new URL(network.proxy.server).port));
    t.teardown(() => link.close());
    const { account, input } = await sender(username);
    const proxy = { ...network.proxy, server: `http://127.0.0.1:${link.port}` };
    const send = (on = channel) => account.run(on, 'social.message.send', input, { proxy, stateRevision: 9 });
    return { link, send };
  }

  t.test(
    'a process that was frozen between its permission and the request sends nothing when it goes on',
    async (t) => {
      const { account, input } = await sender('grace');
      const order = account.order('social.message.send', input);
      const program = fileURLToPath(new URL('./frozen-sender.js', import.meta.url));
      const child = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'inherit'] });
      const exited = once(child, 'exit');
      t.teardown(() => child.exitCode ?? child.kill('SIGKILL'));
      const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
      child.stdin.end(JSON.stringify({ site: network.site, order }));
      t.equal((await lines.next()).value, 'frozen');
      await delay(1_100); // the permission lasts a second, on clocks that no test can move
      child.kill('SIGCONT');
      t.match(JSON.parse((await lines.next()).value ?? ''), UNSENT);
      await exited;
      t.same(await network.ledger('grace'), []);
    },
  );

  t.test('a proxy that stalls holds the run before its boundary, where it may be tried again', async (t) => {
    const { link, send } = await linkedSender('edsger');
    link.stall('both');
    const stalled = await send(shortTimeouts()).expect('failure');
    t.match(stalled, { code: 'upstream_timeout', transient: true, pastBoundary: false, unsent: false });
    link.pass();
    const run = send();
    await run.expect('boundary');
    run.proceed();
    await run.expect('result');
    t.equal((await network.ledger('edsger')).length, 1);
  });

  t.test('a proxy that stalls until the permission has run out lets nothing leave afterwards', async (t) => {
    const { link, send } = await linkedSender('barbara');
    const run = send();
    await run.expect('boundary');
    link.stall('both');
    run.proceed(0);
    t.match(await run.expect('failure'), UNSENT);
    link.pass();
    t.same(await network.ledger('barbara'), []);
  });

  t.test('a connection that breaks while the row is asked has carried nothing', async (t) => {
    const { link, send } = await linkedSender('donald');
    const run = send();
    await run.expect('boundary');
    link.cut();
    await delay(100); // until the browser's thread has seen it
    run.proceed();
    t.match(await run.expect('failure'), {
      code: 'upstream_error',
      transient: true,
      pastBoundary: false,
      unsent: true,
    });
    t.same(await network.ledger('donald'), []);
  });

  t.test('what stalls after the request has begun to leave stays in question', async (t) => {
    const { link, send } = await linkedSender('radia');
    const run = send(shortTimeouts());
    await run.expect('boundary');
    link.stall('down');
    run.proceed();
    t.match(await run.expect('failure'), { transient: false, pastBoundary: true, unsent: false });
    t.equal((await network.ledger('radia')).length, 1);
  });

  t.test('a run that is fenced while it waits for its permission sends nothing', async (t) => {
    const { account, input } = await sender('linus');
    const run = account.run(channel, 'social.message.send', input);
    await run.expect('boundary');
    pool.channel.closeConnection(account.connectionId);
    run.proceed();
    const end = await run.expect('failure');
    t.match(end, { code: 'session_fenced', pastBoundary: false });
    t.same(await network.ledger('linus'), []);
  });
});
