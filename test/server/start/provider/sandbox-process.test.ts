import { once } from 'node:events';
import t from 'tap';
import { startSandbox } from '../../../../server/start/provider/sandbox-process.js';
import type { SandboxReady } from '../../../../server/start/provider/sandbox-ready.js';
import { createLogger } from '../../../../storage/log/log.js';

const log = createLogger({ level: 'silent', format: 'json' }, {});

t.test('the stand-in network comes up, comes back when it dies, and ends with the service', async (t) => {
  const restarts = new EventTarget();
  let restarted: SandboxReady | undefined;
  const sandbox = await startSandbox({
    dataDir: t.testdir(),
    controlPort: 0,
    log,
    onRestart: async (ready) => {
      restarted = ready;
      restarts.dispatchEvent(new Event('restart'));
    },
  });
  t.teardown(() => sandbox.stop());
  const { ready, pid } = sandbox;
  t.match(ready.proxies[0], { region: /^[A-Z]{2}$/, url: /^http:\/\/127\.0\.0\.1:\d+$/, username: String });
  const health = async () => (await fetch(`${ready.control_url}/health`)).status;
  t.equal(await health(), 200);

  const back = once(restarts, 'restart');
  process.kill(pid ?? 0, 'SIGKILL');
  await back;
  t.not(sandbox.pid, pid);
  t.equal(restarted?.control_url, ready.control_url, 'steered at the same address');
  t.equal(await health(), 200);

  await sandbox.stop();
  await t.rejects(health());
});

t.test('a restart that could not be put in place is put in place again, without another restart', async (t) => {
  const pids: (number | undefined)[] = [];
  const placed = new EventTarget();
  const sandbox = await startSandbox({
    dataDir: t.testdir(),
    controlPort: 0,
    log,
    onRestart: async () => {
      pids.push(sandbox.pid);
      if (pids.length === 1) throw new Error('the database is away');
      placed.dispatchEvent(new Event('placed'));
    },
  });
  t.teardown(() => sandbox.stop());
  const done = once(placed, 'placed');
  process.kill(sandbox.pid ?? 0, 'SIGKILL');
  await done;
  t.equal(pids[1], pids[0]);
  t.equal((await fetch(`${sandbox.ready.control_url}/health`)).status, 200);
});

t.test('a network that cannot start reports why', async (t) => {
  const taken = await startSandbox({ dataDir: t.testdir(), controlPort: 0, log, onRestart: async () => {} });
  t.teardown(() => taken.stop());
  const controlPort = Number(new URL(taken.ready.control_url).port);
  const second = startSandbox({ dataDir: t.testdir(), controlPort, log, onRestart: async () => {} });
  await t.rejects(second, { message: `SANDBOX_CONTROL_PORT: the port ${controlPort} is in use` });
});
