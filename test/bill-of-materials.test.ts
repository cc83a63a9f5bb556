import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';

const ROOT = join(import.meta.dirname, '../..');

interface Component {
  'bom-ref': string;
  type: string;
  name: string;
  version: string;
  purl: string;
  hashes?: { alg: string; content: string }[];
}

interface Bill {
  bomFormat: string;
  metadata: { component: Component };
  components: Component[];
  dependencies: { ref: string; dependsOn: string[] }[];
}

interface Lock {
  packages: Record<string, { name?: string; version?: string; integrity?: string; dev?: boolean }>;
}

t.test('every package that runs is listed with its version and hash, and none that only builds or tests', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'sbom-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  for (const file of ['package.json', 'package-lock.json']) await copyFile(join(ROOT, file), join(folder, file));
  const program = join(ROOT, 'dist/server/bill-of-materials.js');
  const { stdout } = await promisify(execFile)(process.execPath, [program], {
    cwd: folder,
    maxBuffer: 64 * 1024 * 1024,
  });
  const bill = JSON.parse(stdout) as Bill;
  t.match(bill, {
    bomFormat: 'CycloneDX',
    metadata: { component: { type: 'application', name: 'connection-service' } },
  });
  t.match(bill.metadata.component.purl, /^pkg:npm\/connection-service@/);

  const { packages } = JSON.parse(await readFile(join(ROOT, 'package-lock.json'), 'utf8')) as Lock;
  const hash = (integrity: string) => Buffer.from(integrity.replace(/^sha512-/, ''), 'base64').toString('hex');
  const listed = new Set(bill.components.flatMap(({ hashes = [] }) => hashes.map(({ content }) => content)));
  const running = Object.entries(packages).filter(([path, { dev }]) => path !== '' && !dev);
  t.ok(running.length > 100);
  const refs = new Set(bill.dependencies.flatMap(({ ref, dependsOn }) => [ref, ...dependsOn]));
  t.same(
    [...refs].filter((ref) => ![bill.metadata.component, ...bill.components].some((one) => one['bom-ref'] === ref)),
    [],
    'and what each needs is in it',
  );
  t.same(
    running.filter(([, { integrity }]) => !integrity || !listed.has(hash(integrity))).map(([path]) => path),
    [],
    'nothing that runs is left out',
  );
  const front = packages['node_modules/uWebSockets.js'];
  t.match(
    bill.components.find(({ name }) => name === 'uWebSockets.js'),
    {
      version: front?.version,
      purl: `pkg:npm/${front?.name}@${front?.version}`,
      hashes: [{ alg: 'SHA-512', content: hash(front?.integrity ?? '') }],
    },
  );
  t.same(
    bill.components.filter(({ name }) => ['tap', 'fast-check', '@biomejs/biome', 'uplot'].includes(name)),
    [],
  );
});
