import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';

const PROGRAM = fileURLToPath(new URL('../../../server/admin.js', import.meta.url));

/** What the command line says when it keeps its compiled code there. */
const keptIn = (folder: string) =>
  new Promise<{ stdout: string; stderr: string }>((resolve, reject) => {
    const env = { PATH: process.env.PATH, NODE_COMPILE_CACHE: folder };
    execFile(process.execPath, [PROGRAM, '--version'], { env, timeout: 60_000 }, (error, stdout, stderr) =>
      error ? reject(error) : resolve({ stdout, stderr }),
    );
  });

const files = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());

t.test(
  'a program keeps its compiled code for the next one, and does without where nothing may be written',
  async (t) => {
    const folder = t.testdir({ file: '' });
    const kept = join(folder, 'kept');
    const first = await keptIn(kept);
    t.match(first, { stdout: /^\d+\.\d+\.\d+\n$/, stderr: '' });
    const made = files(kept).length;
    t.ok(made > 10, `${made} modules are kept`);
    t.strictSame(await keptIn(kept), first);
    t.equal(files(kept).length, made, 'the next one finds all of them');
    t.strictSame(await keptIn(join(folder, 'file', 'kept')), first, 'below what is no folder');
  },
);
