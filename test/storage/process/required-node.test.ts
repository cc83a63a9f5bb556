import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';

/** Makes a process take its Node for one of before. */
const FORMER = `data:text/javascript,
  Object.defineProperty(process, 'version', { value: 'v20.20.2' });
  Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.20.2' } });`;

/** What the program says, and the status it ends with. */
const ended = (program: string, ...args: string[]) =>
  new Promise<{ status: number; stderr: string }>((resolve) => {
    const file = fileURLToPath(new URL(`../../../${program}`, import.meta.url));
    const options = { env: { PATH: process.env.PATH }, timeout: 60_000 };
    execFile(
      process.execPath,
      [`--import=${FORMER.replace(/\s+/g, ' ')}`, file, ...args],
      options,
      (error, _, stderr) => resolve({ status: Number(error?.code ?? 0), stderr }),
    );
  });

t.test('a program that an older Node runs ends with one line, before it begins anything', async (t) => {
  const wants = (script: string) => `node is v20.20.2, it wants 22.19 or newer: use ${script}, which brings its own\n`;
  const programs: [script: string, program: string, ...args: string[]][] = [
    ['npm start', 'server/main.js'],
    ['npm run admin', 'server/admin.js', 'workspace', 'list'],
    ['npm run bench', 'bench/main.js'],
    ['npm run receiver', 'bench/examples/receive.js'],
    ['npm run schema', 'storage/schema/dump.js', '--check'],
    ['npm run sbom', 'server/bill-of-materials.js'],
    ['npm run docs', 'server/docs.js', '--check'],
  ];
  for (const [script, program, ...args] of programs) {
    t.strictSame(await ended(program, ...args), { status: 2, stderr: wants(script) }, program);
  }
});

t.test('what is wanted is what the packages want that run in production', async (t) => {
  const lock = readFileSync(join(import.meta.dirname, '../../../../package-lock.json'), 'utf8');
  const { packages } = JSON.parse(lock) as { packages: Record<string, { dev?: boolean; engines?: { node?: string } }> };
  const lowest = Object.entries(packages)
    .filter(([path, { dev }]) => path !== '' && !dev)
    .map(([, { engines }]) => />=\s*(\d+)(?:\.(\d+))?/.exec(engines?.node ?? ''))
    .map((bound) => [Number(bound?.[1] ?? 0), Number(bound?.[2] ?? 0)] as const);
  const [major, minor] = lowest.reduce((most, one) => ((one[0] - most[0] || one[1] - most[1]) > 0 ? one : most));
  t.equal(`${major}.${minor}`, '22.19');
});
