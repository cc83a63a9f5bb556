import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { chmod, chown, copyFile, cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { DockerfileParser, type Instruction } from 'dockerfile-ast';
import t, { type Test } from 'tap';
import { Client } from '../../fixture/client.js';
import { stockPostgres } from '../../fixture/stock-postgres.js';

/*
 * The steps of the image, without an engine for containers: what its first stage runs is run in a folder, what the second one copies is
 * copied to another, which nobody may write to, and the service is started there as another user, with the settings of the image. What
 * the second stage runs changes a system, and is left out: its packages and its user. Not a part of the suite, because it takes minutes:
 * `npm run test:file -- dist/test/server/deploy/image.js --timeout=1200`.
 */

const ROOT = join(import.meta.dirname, '../../../..');
const UID = 10001;
const run = promisify(execFile);

const file = DockerfileParser.parse(readFileSync(join(ROOT, 'Dockerfile'), 'utf8'));
const instructions = file.getInstructions();
const second = instructions.findLastIndex((one) => one.getKeyword() === 'FROM');
const build = instructions.slice(0, second);
const image = instructions.slice(second);
const only = (list: Instruction[], keyword: string) => list.filter((one) => one.getKeyword() === keyword);
const words = (one: Instruction | undefined) => one?.getArguments().map((argument) => argument.getValue()) ?? [];

/** The exec form of CMD or of HEALTHCHECK's. */
function command(keyword: 'CMD' | 'HEALTHCHECK'): string[] {
  const [text = ''] = /\[.*\]$/.exec(only(image, keyword)[0]?.getRawArgumentsContent() ?? '') ?? [];
  return JSON.parse(text);
}

const settings = file
  .getENVs()
  .flatMap((env) => env.getProperties().map((one) => [one.getName(), one.getValue() ?? '']));

/** What a clone of the project has, with what was changed in it: the context of a build, as `.dockerignore` leaves it. */
async function context(): Promise<string[]> {
  const { stdout } = await run('git', ['ls-files', '-co', '--exclude-standard'], { cwd: ROOT });
  return stdout.trim().split('\n');
}

async function firstStage(t: Test, folder: string): Promise<void> {
  const files = await context();
  for (const one of build) {
    const what = one.getRawArgumentsContent() ?? '';
    if (one.getKeyword() === 'COPY') {
      const copied = what === '. .' ? files : words(one).slice(0, -1);
      for (const name of copied) {
        await mkdir(dirname(join(folder, name)), { recursive: true });
        await cp(join(ROOT, name), join(folder, name)).catch((error) => {
          if (error.code !== 'ENOENT') throw error; // removed, and not yet committed
        });
      }
    }
    if (one.getKeyword() !== 'RUN') continue;
    const { HOME = '/root', PATH = '' } = process.env;
    const path = PATH.split(':').filter((part) => !part.startsWith(ROOT));
    await run('env', ['-i', `HOME=${HOME}`, `PATH=${path.join(':')}`, 'sh', '-euc', what], {
      cwd: folder,
      maxBuffer: 2 ** 26,
    });
    t.pass(`RUN ${what}`);
  }
}

async function secondStage(from: string, to: string): Promise<void> {
  for (const one of only(image, 'COPY')) {
    const names = words(one).map((name) => name.replace(/^\/app\//, ''));
    const target = names.pop() ?? '';
    for (const name of names) {
      const place = target === './' ? join(to, name) : join(to, target);
      await mkdir(dirname(place), { recursive: true });
      await run('cp', ['-a', join(from, name), place]);
    }
  }
  await run('chmod', ['-R', 'a-w,a+rX', to]);
}

/** As the image's user, where root runs this; else as who runs it. */
function asUser(args: string[], folder: string, env: Record<string, string>): ChildProcess {
  const variables = Object.entries(env).map((pair) => pair.join('='));
  const user =
    process.getuid?.() === 0 ? ['setpriv', `--reuid=${UID}`, `--regid=${UID}`, '--clear-groups', '--no-new-privs'] : [];
  const [program = '', ...rest] = ['env', '-i', ...variables, ...user, ...args];
  return spawn(program, rest, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
}

t.test('the image is built, and its service starts where it may write to nothing but its data', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'image-'));
  await chmod(folder, 0o755);
  t.teardown(async () => {
    await run('chmod', ['-R', 'u+w', folder]);
    await rm(folder, { recursive: true, force: true });
  });
  const [built, app, data] = ['built', 'app', 'data'].map((name) => join(folder, name)) as [string, string, string];
  for (const one of [built, app, data]) await mkdir(one);
  if (process.getuid?.() === 0) await chown(data, UID, UID);
  await firstStage(t, built);
  await secondStage(built, app);
  await rm(built, { recursive: true });

  // In place of the base image's.
  const node = join(folder, 'bin');
  await mkdir(node);
  await copyFile(process.execPath, join(node, 'node'));
  await chmod(join(node, 'node'), 0o755);

  // One that is reached by TCP: the socket of the suite's is its user's alone.
  const server = await stockPostgres(t, {});
  const url = await server.createOwner('image');
  const env = {
    ...Object.fromEntries(settings),
    PATH: `${node}:${process.env.PATH}`,
    ...{ DATA_DIR: data, HOST: '127.0.0.1', METRICS_HOST: '127.0.0.1', PORT: '0', METRICS_PORT: '0' },
    ...{ DATABASE_URL: url, ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}` },
  };
  const service = asUser(command('CMD'), app, env);
  const ended = once(service, 'exit');
  t.teardown(() => service.kill('SIGKILL'));
  const line = once(createInterface({ input: service.stdout! }), 'line').then(([text]) => text as string);
  const ready = await Promise.race([line, ended.then(([code]) => Promise.reject(new Error(`it ended: ${code}`)))]);
  t.match(JSON.parse(ready), { ready: true });
  const { url: address } = JSON.parse(ready) as { url: string };

  const health = asUser(command('HEALTHCHECK'), app, { ...env, PORT: new URL(address).port });
  t.equal((await once(health, 'exit'))[0], 0, 'it says of itself that it is ready');

  const admin = async (...args: string[]) => {
    const child = asUser(['node', 'dist/server/admin.js', ...args], app, env);
    const [answer] = await once(createInterface({ input: child.stdout! }), 'line');
    return JSON.parse(String(answer));
  };
  const { workspace_id } = await admin('workspace', 'create', '--name', 'acme');
  const scopes = 'connections:read,connections:write,operations:read,operations:write,social:send';
  const { key } = await admin('key', 'create', '--workspace', workspace_id, '--scopes', scopes);
  const client = new Client(address, key);
  const ada = await client.connect({ provider: 'social', username: 'ada', password: 'sandbox', region: 'US' });
  t.match(await client.run(ada, 'social.login'), { status: 'succeeded' }, 'through a browser in its sandbox');

  service.kill('SIGTERM');
  t.same(await ended, [0, null], 'and it drains');
});
