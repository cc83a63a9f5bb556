import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { findBrowser } from '../../browser-pool/chromium/find-browser.js';
import { Network } from '../fixture/network.js';
import { longTest } from '../fixture/size.js';
import { Account } from './account.js';
import { browserProcesses } from './browser-processes.js';
import { Pool } from './pool.js';

t.test('the pool', async (t) => {
  const network = await Network.start();
  t.teardown(() => network.close());

  t.test('a browser killed in the middle of runs fails them cleanly, and the next run works', async (t) => {
    const pool = new Pool(network.site);
    t.teardown(() => pool.close());
    const { channel } = pool;
    const account = new Account(network, 'ada');
    await account.login(channel);
    const waiting = new Account(network, 'ada+email').run(channel, 'social.login');
    await waiting.expect('challenge');
    const sending = account.run(channel, 'social.message.send', { recipient_actor_id: 'ACoAAnobody', body: 'Hello' });
    await sending.expect('boundary');

    const [pid] = browserProcesses();
    t.ok(pid, 'the browser is there');
    process.kill(pid ?? 0, 'SIGKILL');
    const lost = { code: 'browser_unavailable', transient: true };
    t.match(await waiting.expect('failure'), lost);
    t.match(await sending.expect('failure'), lost);
    await account.run(channel, 'social.identity.get').expect('result');
    await account.run(channel, 'social.health.check').expect('result');
    t.equal((await channel.stats(() => true)).restarts, 1);
    t.not(browserProcesses()[0], pid);
  });

  t.test('a browser killed past the boundary leaves open what happened', async (t) => {
    const pool = new Pool(network.site);
    t.teardown(() => pool.close());
    const account = new Account(network, 'grace');
    await account.login(pool.channel);
    await network.fault({ account: 'grace', capability: 'social.message.send', mode: 'hang', times: 1 });
    const run = account.run(pool.channel, 'social.message.send', { recipient_actor_id: 'ACoAAnobody', body: 'Hello' });
    await run.expect('boundary');
    run.proceed();
    await network.faultsSpent();
    for (const pid of browserProcesses()) process.kill(pid, 'SIGKILL');
    t.match(await run.expect('failure'), { transient: false, pastBoundary: true });
  });

  longTest(t, 'a hung browser is found out and replaced', async (t) => {
    const pool = new Pool(network.site);
    t.teardown(() => pool.close());
    const account = new Account(network, 'barbara');
    await account.login(pool.channel);
    const pids = browserProcesses();
    for (const pid of pids) process.kill(pid, 'SIGSTOP');
    const hung = await account.run(pool.channel, 'social.health.check').expect('failure');
    t.match(hung, { code: 'browser_unavailable', transient: true });
    await account.run(pool.channel, 'social.identity.get').expect('result');
    t.equal((await pool.channel.stats(() => true)).restarts, 1, 'once');
    t.notOk(browserProcesses().some((pid) => pids.includes(pid)));
  });

  longTest(t, 'without a browser a run fails with browser_unavailable at once', async (t) => {
    const pool = new Pool(network.site, {}, { BROWSER_PATH: '/nowhere' });
    t.teardown(() => pool.close());
    const failure = await new Account(network, 'donald').run(pool.channel, 'social.login').expect('failure');
    t.match(failure, { code: 'browser_unavailable', details: { reason: 'not_installed' }, transient: false });
  });

  longTest(t, 'a browser that does not start is browser_unavailable and worth another try', async (t) => {
    const pool = new Pool(network.site, {}, { BROWSER_PATH: '/bin/false' });
    t.teardown(() => pool.close());
    const failure = await new Account(network, 'donald').run(pool.channel, 'social.login').expect('failure');
    t.match(failure, { code: 'browser_unavailable', details: { reason: 'launch_failed' }, transient: true });
  });

  longTest(t, 'a browser that comes up and then says nothing is closed again', async (t) => {
    const path = mute(t, 'SystemInfo.getProcessInfo');
    const pool = new Pool(network.site, { launch_ms: 5_000 }, { BROWSER_PATH: path });
    t.teardown(() => pool.close());
    const failure = await new Account(network, 'donald').run(pool.channel, 'social.login').expect('failure');
    t.match(failure, { code: 'browser_unavailable', details: { reason: 'launch_failed' }, transient: true });
    t.strictSame(browserProcesses(), []);
  });

  longTest(t, 'retired browsers give way while their runs go on', async (t) => {
    const pool = new Pool(network.site, { browser_contexts: 2 });
    t.teardown(() => pool.close());
    const { channel } = pool;
    const waiting = new Account(network, 'old+sms').run(channel, 'social.login');
    await waiting.expect('challenge');
    for (const name of ['one', 'two', 'three']) await new Account(network, name).login(channel);
    waiting.code('000000');
    await waiting.expect('result');
    const stats = await channel.stats((stats) => stats.contexts === 0);
    t.ok(stats.restarts >= 1);
    t.ok(browserProcesses().length <= 1, 'the retired ones are closed');
  });

  longTest(t, 'a browser that holds too much memory gives way to another', async (t) => {
    const pool = new Pool(network.site, { browser_memory_mib: 1, memory_interval_ms: 200 });
    t.teardown(() => pool.close());
    const account = new Account(network, 'heavy');
    await account.login(pool.channel);
    await account.run(pool.channel, 'social.health.check').expect('result');
    await pool.channel.stats((stats) => stats.contexts === 0);
    await account.run(pool.channel, 'social.health.check').expect('result');
    t.ok((await pool.channel.stats((stats) => stats.restarts > 0)).restarts >= 1);
  });

  longTest(t, 'a browser that can make no page any more is found out by its canary', async (t) => {
    const pool = new Pool(network.site, {
      canary_interval_ms: 300,
      canary_deadline_ms: 10_000,
      probe_interval_ms: 60_000,
    });
    t.teardown(() => pool.close());
    const account = new Account(network, 'canary');
    await account.login(pool.channel);
    const [pid] = browserProcesses();
    process.kill(pid ?? 0, 'SIGSTOP');
    await pool.channel.stats((stats) => stats.browser === 'none');
    await account.run(pool.channel, 'social.health.check').expect('result');
    t.not(browserProcesses()[0], pid);
  });

  longTest(t, 'a page stays warm behind a run that ended well, up to the limit', async (t) => {
    const pool = new Pool(network.site, { warm_pages: 1, warm_page_ms: 5_000 });
    t.teardown(() => pool.close());
    const accounts = ['kept1', 'kept2'].map((name) => new Account(network, name));
    for (const account of accounts) {
      await account.login(pool.channel);
      await account.run(pool.channel, 'social.health.check').expect('result');
      await account.run(pool.channel, 'social.health.check').expect('result');
    }
    t.equal((await pool.channel.stats((stats) => stats.running === 0 && stats.contexts === 2)).warm_pages, 1);
    t.equal((await pool.channel.stats((stats) => stats.warm_pages === 0)).contexts, 2, 'for a while');
  });

  t.test('after a drain no browser is left', async (t) => {
    const pool = new Pool(network.site);
    await new Account(network, 'alan').login(pool.channel);
    const held = new Account(network, 'alan+email').run(pool.channel, 'social.login');
    await held.expect('challenge');
    await pool.close(0);
    t.match(await held.expect('failure'), { code: 'browser_unavailable', details: { reason: 'draining' } });
    t.same(browserProcesses(), []);
  });
});

/** A program that starts the real browser and keeps one kind of question from it. */
function mute(t: Test, question: string): string {
  const directory = mkdtempSync(join(tmpdir(), 'browser-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const path = join(directory, 'browser');
  const program = `#!${process.execPath}
    const { Socket } = require('node:net');
    const stdio = ['inherit', 'inherit', 'inherit', 'pipe', 'pipe'];
    const browser = require('node:child_process').spawn('${findBrowser()}', process.argv.slice(2), { stdio });
    browser.on('exit', () => process.exit());
    browser.stdio[4].pipe(new Socket({ fd: 4 }));
    let text = '';
    new Socket({ fd: 3 }).on('data', (chunk) => {
      const questions = (text + chunk).split('\\0');
      text = questions.pop();
      for (const one of questions) if (!one.includes('${question}')) browser.stdio[3].write(one + '\\0');
    });`;
  writeFileSync(path, program, { mode: 0o700 });
  return path;
}
