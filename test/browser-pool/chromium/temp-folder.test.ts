import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { sweepTempFolders } from '../../../browser-pool/chromium/temp-folder.js';
import { longTest } from '../../fixture/size.js';
import { Account } from '../account.js';
import { poolFixture } from '../fixture.js';
import { Pool } from '../pool.js';

const MODULE = join(import.meta.dirname, '../../../browser-pool/chromium/temp-folder.js');

/** A process that has its temporary folder in this one; ends with the test. */
async function user(folder: string) {
  const program = join(folder, 'user.mjs');
  writeFileSync(
    program,
    `import { removeTempFolder, useTempFolder } from ${JSON.stringify(MODULE)};
     process.on('message', async () => {
       await removeTempFolder();
       useTempFolder();
       process.send(process.env.TMPDIR);
     });
     useTempFolder();
     process.send(process.env.TMPDIR);`,
  );
  const child = fork(program, { env: { ...process.env, TMPDIR: folder } });
  const [path] = await once(child, 'message');
  return { child, path: String(path) };
}

t.test('the folder of a killed process is swept, that of one that lives is not, nor anything else', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'sweep-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const [killed, living] = [await user(folder), await user(folder)];
  t.teardown(() => living.child.kill('SIGKILL'));
  writeFileSync(join(folder, 'connection-service-browser-notes'), 'a file of somebody');
  const before = readdirSync(folder).sort();
  t.equal(before.length, 4);
  t.equal(await sweepTempFolders(folder), 0);
  killed.child.kill('SIGKILL');
  await once(killed.child, 'exit');
  t.equal(await sweepTempFolders(folder), 1);
  t.strictSame(
    readdirSync(folder).sort(),
    before.filter((name) => !killed.path.endsWith(name)),
  );
  living.child.send('again');
  const [again] = await once(living.child, 'message');
  t.equal(again, living.path, 'a thread keeps its name');
  t.equal(await sweepTempFolders(folder), 0, 'and its lock');
});

longTest(t, 'a pool keeps what its browser writes in a folder of its own, and leaves nothing', async (t) => {
  const { network } = await poolFixture(t);
  const folder = mkdtempSync(join(tmpdir(), 'pool-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const pool = new Pool(network.site, {}, { TMPDIR: folder });
  await new Account(network, 'ada').login(pool.channel);
  const [own = '', ...others] = readdirSync(folder);
  t.match(own, /^connection-service-browser-/);
  t.strictSame(others, []);
  t.ok(
    readdirSync(join(folder, own)).some((name) => name.includes('profile')),
    'the profile is there',
  );
  await pool.close();
  t.strictSame(readdirSync(folder), []);
});
