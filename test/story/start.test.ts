import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import t, { type Test } from 'tap';
import { eventually } from '../fixture/eventually.js';
import { failedStart, launch, readyLine, serviceFixture, startService } from '../fixture/service.js';
import { longTest, sized } from '../fixture/size.js';
import { startSuperuserDatabase } from '../fixture/superuser-database.js';

/** One line that names what is wrong, and nothing else. */
function oneLine(text: string): string {
  const lines = text.trim().split('\n');
  return lines.length === 1 ? (lines[0] ?? '') : `${lines.length} lines: ${text}`;
}

t.test('a bad setting stops the start with one line that names it', async (t) => {
  const { status, stderr } = await failedStart({ PORT: 'eighty', DATA_DIR: '/tmp' });
  t.equal(status, 2);
  t.match(oneLine(stderr), /^PORT has "eighty", it wants/);
});

longTest(t, 'it starts from a folder of any name', async (t) => {
  const outside = await mkdtemp(join(tmpdir(), 'service-'));
  t.teardown(() => rm(outside, { recursive: true, force: true }));
  await chmod(outside, 0o755);
  const folder = join(outside, "jürgen's own #1 100% app");
  const root = join(import.meta.dirname, '../../..');
  for (const part of ['dist', 'package.json', 'storage/migrations', 'storage/schema.sql']) {
    const wanted = (file: string) => !/\.map$|dist.test|\.compiled/.test(file);
    await cp(join(root, part), join(folder, part), { recursive: true, filter: wanted });
  }
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  // Packages have their place in this folder, too, in the processes that get this variable.
  const env = { NODE_OPTIONS: '--preserve-symlinks', DATA_DIR: join(folder, '.data'), PORT: '0', METRICS_PORT: '0' };
  const service = launch({ ...env, LOG_FORMAT: 'json', LOG_LEVEL: 'fatal' }, join(folder, 'dist/server/main.js'));
  t.teardown(() => service.kill('SIGKILL'));
  const { url } = await readyLine(service);
  t.equal((await fetch(`${url}/healthz`)).status, 200);
  service.kill('SIGTERM');
  await once(service, 'exit');
  t.equal(service.exitCode, 0);
});

/** Listens on a free port of loopback, accepts, and says nothing. */
async function silentServer(t: Test): Promise<{ port: string; close(): Promise<void> }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => void sockets.add(socket.on('error', () => {})));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = async () => {
    for (const socket of sockets) socket.destroy();
    if (server.listening) await new Promise((closed) => server.close(closed));
  };
  t.teardown(close);
  return { port: String((server.address() as AddressInfo).port), close };
}

t.test('a port in use stops the start with one line, before there is a database', async (t) => {
  const { port } = await silentServer(t);
  for (const [name, line] of [
    ['PORT', new RegExp(`^cannot listen on 127.0.0.1:${port}.*in use`)],
    ['METRICS_PORT', new RegExp(`^METRICS_PORT: .*${port}.*in use`)],
  ] as const) {
    const dataDir = t.testdir();
    const env = {
      DATA_DIR: dataDir,
      PORT: '0',
      METRICS_PORT: '0',
      LOG_FORMAT: 'json',
      LOG_LEVEL: 'fatal',
      [name]: port,
    };
    const { status, stderr } = await failedStart(env);
    t.equal(status, 1);
    t.match(oneLine(stderr), line);
    t.notOk(existsSync(join(dataDir, 'postgres')), 'nothing was started for it');
  }
});

longTest(t, 'a control port of the stand-in network in use is one line that names it', async (t) => {
  const { port } = await silentServer(t);
  const { env } = await serviceFixture(t, { SANDBOX_CONTROL_PORT: port });
  const { status, stderr } = await failedStart(env);
  t.equal(status, 1);
  t.equal(oneLine(stderr), `SANDBOX_CONTROL_PORT: the port ${port} is in use`);
});

t.test('while it starts it listens, answers 503 and is not ready; and it can be stopped', async (t) => {
  const database = await silentServer(t);
  const [free, metrics] = [await silentServer(t), await silentServer(t)];
  await Promise.all([free.close(), metrics.close()]);
  const service = launch({
    DATABASE_URL: `postgres://nobody@127.0.0.1:${database.port}/none`,
    DATA_DIR: t.testdir(),
    PORT: free.port,
    METRICS_PORT: metrics.port,
    LOG_LEVEL: 'fatal',
  });
  t.teardown(() => service.kill('SIGKILL'));
  let stderr = '';
  service.stderr?.on('data', (chunk) => {
    stderr += chunk;
  });
  const ended = once(service, 'close');
  const url = `http://127.0.0.1:${free.port}`;
  const answers = () => fetch(`${url}/healthz`).catch(() => undefined);
  const health = await eventually('it listens', answers, (answer) => answer !== undefined);
  t.equal(health?.status, 503);
  t.same(await health?.json(), { status: 'unavailable' });
  const refused = await fetch(`${url}/v1/connections`, { method: 'POST', body: '{}' });
  t.equal(refused.status, 503);
  t.match(refused.headers.get('retry-after'), /^\d+$/);
  t.equal(refused.headers.get('connection'), 'close');
  t.match(await refused.json(), { code: 'unavailable' });
  const invitation = await fetch(`${url}/v1/accounts/ada/linkedin/invite`, { method: 'POST', body: '{}' });
  t.match(await invitation.json(), { error: { code: 'unavailable' } });
  t.equal((await fetch(`http://127.0.0.1:${metrics.port}/readyz`)).status, 503);
  service.stdout?.resume();
  service.kill('SIGTERM');
  t.same([...(await ended), stderr], [0, null, '']);
});

t.test('what stops `npm start` drains the service and ends it', async (t) => {
  const fixture = await serviceFixture(t, { BROWSER_PATH: '/bin/false', ACTOR_THREADS: '1', LOG_LEVEL: 'info' });
  const stops: Stop[] = [
    ['Ctrl-C', ['npm', 'start'], 'SIGINT', 'group'],
    ...sized<Stop[]>(
      [],
      [
        ['a supervisor', ['npm', 'start'], 'SIGTERM', 'process'],
        ['a shell', ['sh', '-c', 'exec npm start'], 'SIGTERM', 'process'],
      ],
    ),
  ];
  await Promise.all(
    stops.map(async ([what, command, signal, to]) => {
      const started = await startedBy(t, command, fixture.env);
      process.kill(to === 'group' ? -started.pid : started.pid, signal);
      t.same(await started.ended, { status: 0, drained: true }, what);
      await t.rejects(fetch(`${started.url}/healthz`), what);
    }),
  );
});

type Stop = [what: string, command: string[], signal: NodeJS.Signals, to: 'process' | 'group'];

/** A service that a command starts in a process group of its own; it has ended when nothing holds its output any more. */
async function startedBy(t: Test, command: string[], env: Record<string, string>) {
  const { PATH = '', HOME = '' } = process.env;
  const dataDir = await mkdtemp(join(tmpdir(), 'start-'));
  t.teardown(() => rm(dataDir, { recursive: true, force: true }));
  const variables = Object.entries({ PATH, HOME, ...env, DATA_DIR: dataDir });
  const args = ['-i', ...variables.map(([name, value]) => `${name}=${value}`), ...command];
  const child = spawn('env', args, { cwd: join(import.meta.dirname, '../../..'), detached: true });
  const pid = child.pid ?? 0;
  const closed = once(child, 'close');
  t.teardown(() => child.exitCode !== null || process.kill(-pid, 'SIGKILL'));
  let log = '';
  child.stderr.on('data', (chunk) => {
    log += chunk;
  });
  const ready = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => line.startsWith('{"ready"') && resolve(line));
    void closed.then(() => reject(new Error(`it did not start: ${log}`)));
  });
  const ended = closed.then(() => ({ status: child.exitCode, drained: log.includes('"msg":"stopped"') }));
  return { pid, url: (JSON.parse(ready) as { url: string }).url, ended };
}

longTest(t, 'a database that does not answer stops the start with one line', async (t) => {
  const fixture = await serviceFixture(t, { DATABASE_URL: 'postgres://nobody:secret@127.0.0.1:9/none' });
  const { status, stderr } = await failedStart(fixture.env);
  t.equal(status, 1);
  t.match(oneLine(stderr), /^DATABASE_URL: the database does not answer/);
  t.notMatch(stderr, 'secret');
});

t.test('without a browser the service serves, and says what social operations lack', async (t) => {
  const fixture = await serviceFixture(t, { PATH: '/nowhere', LOG_LEVEL: 'warn' });
  const service = await startService(t, fixture);
  t.match(service.stderr(), /no browser/i);
  const simulated = await service.client.connect({
    provider: 'simulated',
    external_actor: { kind: 'person', id: 'ada' },
  });
  t.match(await service.client.run(simulated, 'social.identity.get'), { status: 'succeeded' });
  const social = await service.client.connect({
    provider: 'social',
    username: 'ada',
    password: 'sandbox',
    region: 'US',
  });
  t.match(await service.client.run(social, 'social.login'), {
    status: 'failed',
    error_code: 'browser_unavailable',
    error_details: { retryable: true },
  });
});

longTest(t, 'a site description that is none stops the start with one line', async (t) => {
  const fixture = await serviceFixture(t);
  const file = `${fixture.dataDir}/site.json`;
  await writeFile(file, '{"origin":"https://www.example.test"}');
  const { status, stderr } = await failedStart({ ...fixture.env, PROVIDER: file });
  t.equal(status, 2);
  t.match(oneLine(stderr), /^PROVIDER has ".*site\.json" \(.* wants .*\), it wants a site description/);
});

longTest(
  t,
  'a node without the keys of the installation serves, and accepts nothing that it could not tell from a repeat',
  async (t) => {
    const fixture = await serviceFixture(t, { BROWSER_PATH: '/bin/false', LOG_LEVEL: 'warn' });
    const first = await startService(t, fixture);
    const connection = await first.client.connect({
      provider: 'simulated',
      external_actor: { kind: 'person', id: 'ada' },
    });
    t.match(await first.client.run(connection, 'social.identity.get'), { status: 'succeeded' });
    t.equal(await first.stop(), 0);

    const { ENCRYPTION_KEYS: _, ...keyless } = fixture.env;
    const second = await startService(t, { ...fixture, env: keyless });
    t.match(second.stderr(), 'installation.fingerprint_secret_sealed');
    t.match(await second.client.send('GET', `/v1/connections/${connection}`), { status: 200 });
    t.match(await second.client.submit(connection, 'social.identity.get'), {
      status: 503,
      body: { code: 'encryption_key_unavailable' },
    });
    t.equal(await second.stop(), 0);
  },
);

longTest(t, 'a database whose role is a superuser is used with one warning', async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'superuser-'));
  await chmod(dataDir, 0o755);
  t.teardown(() => rm(dataDir, { recursive: true, force: true }));
  const database = await startSuperuserDatabase(dataDir);
  t.teardown(() => database.stop());
  const fixture = await serviceFixture(t, { DATABASE_URL: database.url, LOG_LEVEL: 'warn' });
  const service = await startService(t, fixture);
  t.equal(service.stderr().match(/its role is a superuser/g)?.length, 1);
  t.notMatch(service.stderr(), database.url);
  await service.stop();
});
