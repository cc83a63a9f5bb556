import { chmodSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { ConfigError, readConfig } from '../../../../server/start/settings/config.js';
import { requireDataDir } from '../../../../server/start/settings/data-dir.js';

const NOBODY = 65_534;

/** Does the work as a user who is not root: root may do anything to a file. */
function unprivileged<T>(work: () => T): T {
  const root = process.geteuid?.() === 0;
  if (root) process.seteuid?.(NOBODY);
  try {
    return work();
  } finally {
    if (root) process.seteuid?.(0);
  }
}

const use = (DATA_DIR: string, env: Record<string, string> = {}) => requireDataDir(readConfig({ DATA_DIR, ...env }));

t.test('a folder that can be used is made', async (t) => {
  const dir = join(t.testdir(), 'a', 'b');
  use(dir);
  t.ok(statSync(dir).isDirectory());
});

t.test('one that cannot be used is one line that names DATA_DIR and the path', async (t) => {
  const dir = t.testdir({ file: '' });
  const [locked, shared] = [join(dir, 'locked'), join(dir, 'shared')];
  for (const folder of [locked, shared]) mkdirSync(folder);
  chmodSync(dir, 0o755);
  chmodSync(shared, 0o777);
  const foreign = process.geteuid?.() === 0;
  if (foreign) writeFileSync(join(shared, 'demo-key'), '');
  chmodSync(locked, 0o000);
  const refused: (readonly [path: string, named: string, why: RegExp])[] = [
    [join(dir, 'file'), join(dir, 'file'), /is not a folder/],
    [join(dir, 'file', 'below'), join(dir, 'file', 'below'), /is not a folder/],
    [locked, locked, /user \d+/],
    [join(locked, 'below'), join(locked, 'below'), /user \d+/],
    // Only root can give a file to another user.
    ...(foreign ? ([[shared, join(shared, 'demo-key'), /belongs to user 0, .* user 65534/]] as const) : []),
  ];
  for (const [path, named, why] of refused) {
    const error = t.throws(() => unprivileged(() => use(path)), { message: why }) as unknown as Error;
    t.ok(error instanceof ConfigError);
    t.ok(error.message.startsWith(`DATA_DIR: ${named} `), error.message);
    t.notMatch(error.message, /\n/);
  }
  t.doesNotThrow(() => use(join(dir, 'file'), { DATABASE_URL: 'postgres://db/x', PROVIDER: import.meta.filename }));
});
