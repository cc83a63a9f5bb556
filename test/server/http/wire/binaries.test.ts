import { copyFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { BINARIES, checkBinary, UnknownBinary } from '../../../../server/http/wire/binaries.js';

const NAME = `uws_${process.platform}_${process.arch}_${process.versions.modules}.node`;

t.test('the installed binary is the recorded one', async (t) => {
  t.doesNotThrow(() => checkBinary());
});

t.test('an installation keeps no other', async (t) => {
  t.same(await readdir(BINARIES), [NAME]);
});

t.test('one that differs in a byte is refused in one line, before it is loaded', async (t) => {
  const folder = t.testdir();
  await copyFile(join(BINARIES, NAME), join(folder, NAME));
  t.doesNotThrow(() => checkBinary(folder));
  await writeFile(join(folder, NAME), 'x', { flag: 'a' });
  t.throws(() => checkBinary(folder), new UnknownBinary(), 'its own class');
  t.throws(() => checkBinary(folder), { message: /^[^\n]+not the recorded binary[^\n]+OPERATE\.md$/ });
});

t.test('a platform without a record is refused', async (t) => {
  t.throws(() => checkBinary(BINARIES, {}), { message: /no recorded binary for \w+: see OPERATE\.md/ });
});
