import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';

const PROGRAM = fileURLToPath(new URL('../../../server/admin.js', import.meta.url));
const KEYS = `prod:${Buffer.alloc(32, 7).toString('base64')}`;

t.test('a command without the keys of an embedded installation makes no key file of its own', async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'keys-'));
  t.teardown(() => rm(dataDir, { recursive: true, force: true }));
  const run = (args: string[], env: Record<string, string>) =>
    new Promise<{ status: number; stderr: string }>((resolve) => {
      // Through env -i: tap's own hooks would follow the database into the user that it runs as.
      const variables = Object.entries({ PATH: process.env.PATH, DATA_DIR: dataDir, ...env }).map((pair) =>
        pair.join('='),
      );
      const command = ['-i', ...variables, process.execPath, PROGRAM, ...args];
      const child = execFile('env', command, (error, _, stderr) => {
        resolve({ status: Number(error?.code ?? 0), stderr });
      });
      child.stdin?.end('http://user:secret@127.0.0.1:3128');
    });
  const add = ['proxy', 'add', '--region', 'US', '--url', '-'];
  const file = join(dataDir, 'encryption-keys');

  t.match(await run(add, { ENCRYPTION_KEYS: KEYS }), { status: 0, stderr: '' });
  t.match(await run(add, {}), { status: 2, stderr: /^ENCRYPTION_KEYS is not set[^\n]*its nodes have prod[^\n]*\n$/ });
  t.match(await run(['encryption', 'status'], {}), { status: 0 });
  t.match(await run(['workspace', 'list'], {}), { status: 0 });
  t.notOk(existsSync(file));
});
