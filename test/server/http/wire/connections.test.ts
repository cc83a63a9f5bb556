import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { ConnectionCount } from '../../../../server/http/wire/connection-count.js';
import { createLogger } from '../../../../storage/log/log.js';
import { eventually } from '../../../fixture/eventually.js';
import { serviceFixture } from '../../../fixture/service.js';
import { closed } from '../../../fixture/sockets.js';
import { startTestEdge } from '../../edge-fixture.js';

const MAIN = fileURLToPath(new URL('../../../../server/main.js', import.meta.url));

async function open(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  socket.resume();
  await once(socket, 'connect');
  return socket;
}

async function healthOn(socket: Socket): Promise<string> {
  socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
  const [answer] = (await once(socket, 'data')) as [Buffer];
  return answer.toString();
}

t.test('connections past the bound are closed as they come, those before it serve on', async (t) => {
  const edge = await startTestEdge(t, { connections: 3 });
  const [first, second, third] = [await open(edge.edge.port), await open(edge.edge.port), await open(edge.edge.port)];
  const refused = await open(edge.edge.port);
  await closed(refused);
  t.match(await healthOn(first), /^HTTP\/1.1 200/);
  t.match(await healthOn(third), /^HTTP\/1.1 200/);
  second.destroy();
  await eventually(
    'the next one is let in',
    async () => {
      const next = await open(edge.edge.port);
      const answer = await Promise.race([healthOn(next).catch(() => ''), closed(next).then(() => '')]);
      next.destroy();
      return answer;
    },
    (answer) => answer.startsWith('HTTP/1.1 200'),
  );
  first.destroy();
  third.destroy();
});

t.test('a bound that is reached is told once, and again when it was left by a tenth', (t) => {
  const log = createLogger({ level: 'silent', format: 'json' }, {});
  let told = 0;
  log.warn = () => void told++;
  const count = new ConnectionCount(10, log);
  const cycle = (opened: number) => {
    for (let n = 0; n < opened; n++) count.opened();
    for (let n = 0; n < opened; n++) count.closed();
  };
  for (let n = 0; n < 10; n++) t.ok(count.opened());
  t.equal(told, 0);
  cycle(5);
  cycle(5);
  t.equal(told, 1);
  count.closed();
  cycle(2);
  t.equal(told, 2);
  t.end();
});

/** A service in a process that may have 256 descriptors. */
async function startWithFewDescriptors(t: Test): Promise<{ process: ChildProcess; port: number; stderr(): string }> {
  const { env } = await serviceFixture(t, { BROWSER_PATH: '/bin/false', LOG_LEVEL: 'warn' });
  const variables = Object.entries({ PATH: process.env.PATH ?? '', ...env }).map(([name, value]) => `${name}=${value}`);
  const child = spawn('sh', ['-c', 'ulimit -n 256; exec env -i "$@"', 'sh', ...variables, process.execPath, MAIN], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const gone = once(child, 'exit');
  t.teardown(async () => {
    child.kill('SIGKILL');
    await gone;
  });
  let stderr = '';
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  const lines = createInterface({ input: child.stdout });
  const [ready] = await Promise.race([once(lines, 'line'), gone.then(() => [''])]);
  if (!ready) throw new Error(`the service did not start: ${stderr}`);
  return { process: child, port: Number(new URL(JSON.parse(ready as string).url).port), stderr: () => stderr };
}

/** Processor time of the main thread, in seconds. */
function mainThread_s({ pid }: ChildProcess): number {
  const [user, system] = readFileSync(`/proc/${pid}/task/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ').slice(11, 13);
  return (Number(user) + Number(system)) / 100;
}

t.test('400 idle sockets on 256 descriptors neither make the service spin nor keep others out for long', async (t) => {
  const service = await startWithFewDescriptors(t);
  const early = await open(service.port);
  const sockets = await Promise.all(Array.from({ length: 400 }, () => open(service.port)));
  t.match(await healthOn(early), /^HTTP\/1.1 200/);
  const before_s = mainThread_s(service.process);
  await delay(3_000);
  const took_s = mainThread_s(service.process) - before_s;
  t.ok(took_s < 0.5, `${took_s.toFixed(2)} s of processor time in 3 s`);
  t.match(await healthOn(early), /^HTTP\/1.1 200/);
  const told = service.stderr().match(/http: too many connections/g) ?? [];
  t.equal(told.length, 1, 'told once');
  for (const socket of sockets) socket.destroy();
  await eventually(
    'a new connection is let in',
    async () => {
      const next = await open(service.port);
      const answer = await Promise.race([healthOn(next).catch(() => ''), closed(next).then(() => '')]);
      next.destroy();
      return answer;
    },
    (answer) => answer.startsWith('HTTP/1.1 200'),
  );
  early.destroy();
});
