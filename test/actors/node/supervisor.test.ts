import { once } from 'node:events';
import type { MessagePort } from 'node:worker_threads';
import type { Logger } from 'pino';
import { Piscina } from 'piscina';
import t from 'tap';
import { LIMITS } from '../../../actors/limits.js';
import { ActorThreads } from '../../../actors/node/actor-threads.js';
import { Supervisor } from '../../../actors/node/supervisor.js';
import { createLogger } from '../../../storage/log/log.js';

const log: Logger = createLogger({ level: 'silent', format: 'json' }, {});

t.test('threads that die whenever they are started are given up, and the node is told once', async (t) => {
  const dir = t.testdir({ 'dies.mjs': 'export default () => { throw new Error("it cannot start"); };' });
  const pool = new Piscina({ filename: `${dir}/dies.mjs`, minThreads: 1, maxThreads: 1 });
  const threads = new ActorThreads({ pool, threads: 1, restart_ms: 1 }, log, undefined, () => ({}) as never);
  const failed = Promise.withResolvers<void>();
  const told = { started: 0, failed: 0 };
  threads.start({
    started: () => told.started++,
    hint: () => {},
    reconcile: () => {},
    awaitable: () => {},
    tallied: () => {},
    failed: () => {
      told.failed++;
      failed.resolve();
    },
  });
  await failed.promise;
  await threads.loaded(); // nobody waits for what does not come
  t.strictSame(told, { started: LIMITS.restarts_per_minute + 1, failed: 1 });
  t.equal(threads.restarts, LIMITS.restarts_per_minute);
  t.equal(threads.running, 0);
  t.equal(threads.whole, false);
  await threads.drained();
});

t.test('what is sent to a thread that is to load later waits for it', async (t) => {
  const dir = t.testdir({ 'echo.mjs': ECHO });
  const pool = new Piscina({ filename: `${dir}/echo.mjs`, minThreads: 0, maxThreads: 1 });
  const loads = Promise.withResolvers<void>();
  const task = (_index: number, port: MessagePort) => ({ port });
  const supervisor = new Supervisor({ name: 'late', pool, threads: 1, log, after: loads.promise, task });
  const ports: MessagePort[] = [];
  supervisor.start({ started: (_index, port) => ports.push(port), died: () => {}, failed: () => {} });
  const [port] = ports as [MessagePort];
  port.postMessage('early');
  t.equal(pool.threads.length, 0, 'nothing has loaded');
  loads.resolve();
  t.strictSame(await once(port, 'message'), ['early']);
  await supervisor.drained();
});

/** Sends back the first message, and ends. */
const ECHO = `export default ({ port }) => new Promise((resolve) => port.once('message', (what) => {
  port.postMessage(what);
  port.close();
  resolve();
}));`;
