import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import t, { type Test } from 'tap';
import { authority } from '../fixture/certificates.js';
import { type RunningService, serviceFixture, startService } from '../fixture/service.js';
import { trusting } from '../fixture/webhooks.js';

const PROGRAMS = join(import.meta.dirname, '../../bench/examples');
const SOURCES = join(import.meta.dirname, '../../../bench/examples');

/** A thousand by default. */
const ACCOUNTS = 60;

/** A program under way, as a reader of `bench/examples/README.md` starts it. */
interface Run {
  /** What it has printed, a line each. */
  lines: string[];
  process: ChildProcess;
  /** Resolves once it has printed such a line. */
  printed(line: RegExp): Promise<void>;
  ended: Promise<{ status: number | null; stderr: string }>;
}

function started(t: Test, program: string, env: Record<string, string>): Run {
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const child = spawn('env', ['-i', ...variables, process.execPath, join(PROGRAMS, `${program}.js`)]);
  t.teardown(() => child.kill('SIGKILL'));
  const lines: string[] = [];
  let stderr = '';
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  const reader = createInterface({ input: child.stdout });
  const waiting = new Set<() => void>();
  const checkAll = () => {
    for (const check of waiting) check();
  };
  reader.on('line', (line) => {
    lines.push(line);
    checkAll();
  });
  let over = false;
  const ended = once(child, 'close').then(([status]) => {
    over = true;
    checkAll();
    return { status: status as number | null, stderr };
  });
  const printed = (line: RegExp) =>
    new Promise<void>((resolve, reject) => {
      const check = () => {
        const found = lines.some((one) => line.test(one));
        if (!found && !over) return;
        waiting.delete(check);
        if (found) resolve();
        else reject(new Error(`${program} ended without ${line}: ${lines.join('\n')}\n${stderr}`));
      };
      waiting.add(check);
      check();
    });
  return { lines, process: child, printed, ended };
}

/** The service behind what refuses each submission once, as the service does when a key asks for too much. */
async function refusingFirst(t: Test, url: string): Promise<{ url: string; refused: () => number }> {
  const seen = new Set<unknown>([undefined]);
  let refused = 0;
  const server = createServer((asked, answer) => {
    const key = asked.headers['idempotency-key'];
    if (!seen.has(key)) {
      seen.add(key);
      refused++;
      asked.resume();
      answer.writeHead(429, { 'content-type': 'application/json', 'retry-after': '1' }).end('{"code":"rate_limited"}');
      return;
    }
    const { method, headers } = asked;
    const forwarded = request(url + asked.url, { method, headers }, (real) => {
      answer.writeHead(real.statusCode ?? 0, real.headers);
      real.pipe(answer);
    });
    forwarded.on('error', () => answer.destroy());
    asked.pipe(forwarded);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.closeAllConnections());
  t.teardown(() => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, refused: () => refused };
}

t.test('each example runs against a started service, and says what it does', async (t) => {
  const certificates = await authority();
  const onLoopback = await certificates.issue({ ip: '127.0.0.1' });
  const callbacks = { ...(await trusting(t, certificates.ca)), CALLBACK_ALLOWED_NETWORKS: '127.0.0.1/32' };
  const fixture = await serviceFixture(t, callbacks);
  const service: RunningService = await startService(t, fixture);
  const env = { BASE_URL: service.url, API_KEY: fixture.key };
  const lived = async (t: Test, run: Run, expected: RegExp[]) => {
    t.match(await run.ended, { status: 0, stderr: '' });
    t.match(run.lines, expected);
    t.equal(run.lines.length, expected.length, run.lines.join('\n'));
  };

  await t.test('the first operation', (t) =>
    lived(t, started(t, 'first-operation', env), [
      /^connection \S+ is made$/,
      /^operation \S+ is queued under the key \S+$/,
      /^submitted again, it is the same one: true$/,
      /^it succeeded: \{"profile":/,
    ]),
  );

  await t.test('a challenge, whose user is mistaken once', async (t) => {
    const run = started(t, 'challenge', env);
    await run.printed(/Code\?$/);
    run.process.stdin?.write('111111\n');
    await run.printed(/has the code$/);
    run.process.stdin?.write('000000\n');
    const asked = /^the provider has sent a code by email; until \S+Z it takes it \(here 000000\)\. Code\?$/;
    const taken = /^the operation has the code$/;
    await lived(t, run, [asked, taken, asked, taken, /^the login is succeeded$/]);
  });

  await t.test('a receiver of callbacks', async (t) => {
    const dir = await mkdtemp(join(tmpdir(), 'example-'));
    t.teardown(() => rm(dir, { recursive: true, force: true }));
    const files = { TLS_KEY_FILE: join(dir, 'key.pem'), TLS_CERT_FILE: join(dir, 'cert.pem') };
    await writeFile(files.TLS_KEY_FILE, onLoopback.key);
    await writeFile(files.TLS_CERT_FILE, onLoopback.cert);
    const run = started(t, 'receive-webhooks', { ...env, ...files, PORT: '0' });
    await run.printed(/^received subscription\.test \{"subscription_id":"\S+"\}$/);
    await run.printed(/^received message_received \{"message_body":"Hello Ada"\}$/);
    run.process.kill('SIGTERM');
    await run.printed(/^the subscription is inactive$/);
    t.match(await run.ended, { status: 0, stderr: '' });
  });

  await t.test('unknown outcomes, looked for before anything is sent again', (t) =>
    lived(t, started(t, 'unknown-outcome', env), [
      /^sim-unknown: the message is outcome_unknown, its answer ended by connection_lost$/,
      /^sim-unknown: it is not there, so it was sent anew: succeeded$/,
      /^sim-unknown-written: the message is outcome_unknown, its answer ended by connection_lost$/,
      /^sim-unknown-written: it is there, so nothing is sent$/,
    ]),
  );

  await t.test('many accounts, through refusals, and the same run again', async (t) => {
    const door = await refusingFirst(t, service.url);
    const many = { ...env, BASE_URL: door.url, ACCOUNTS: String(ACCOUNTS), RUN: 'one' };
    const all = new RegExp(`^${ACCOUNTS} accounts in [0-9.]+ s: \\{"succeeded":${ACCOUNTS}\\}$`);
    await lived(t, started(t, 'thousand-accounts', many), [/^[0-9]+ accounts are there already$/, all]);
    t.equal(door.refused(), ACCOUNTS, 'each had to come again');
    const operations = () => fixture.db.query('testCount', 'select count(*)::int as n from operation');
    const before = await operations();
    await lived(t, started(t, 'thousand-accounts', many), [/^6[0-9] accounts are there already$/, all]);
    t.strictSame(await operations(), before, 'which did nothing twice');
  });

  await t.test('a key that is none', async (t) => {
    const run = started(t, 'first-operation', { ...env, API_KEY: 'none' });
    t.match(await run.ended, { status: 1, stderr: /401 unauthorized/ });
  });
});

t.test('the examples are short, and know the API only', async (t) => {
  for (const name of (await readdir(SOURCES)).filter((name) => name.endsWith('.ts'))) {
    const source = await readFile(join(SOURCES, name), 'utf8');
    const imports = [...source.matchAll(/ from '([^']+)'/g)].map(([, from = '']) => from);
    t.same(
      imports.filter((from) => from !== './api.js' && !from.startsWith('node:')),
      [],
      name,
    );
    if (name !== 'api.ts') t.ok(source.split('\n').length <= 61, `${name} has under 60 lines`);
  }
});
