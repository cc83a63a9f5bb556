import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { requireNode } from '../storage/process/required-node.js';

/**
 * Prints every package that runs in production, on any platform, with its version and hash, as CycloneDX JSON. The lock file
 * alone decides. `npm sbom` describes them; its `--omit dev` is of no use here, because it leaves out what a tool needs as well.
 */
interface Component {
  'bom-ref': string;
  name: string;
  hashes?: { content: string }[];
}

interface Bill {
  metadata: { component: Component };
  components: Component[];
  dependencies: { ref: string; dependsOn: string[] }[];
}

interface Lock {
  name: string;
  packages: Record<string, { dev?: boolean; integrity?: string }>;
}

/** The hashes of what is not there for development alone, as CycloneDX writes them. */
function runningHashes(lock: Lock): Set<string> {
  const running = Object.entries(lock.packages).filter(([path, { dev }]) => path !== '' && !dev);
  return new Set(
    running.map(([path, { integrity }]) => {
      const hash = integrity?.match(/^sha512-(\S+)$/)?.[1];
      if (!hash) throw new Error(`package-lock.json has no SHA-512 of ${path}`);
      return Buffer.from(hash, 'base64').toString('hex');
    }),
  );
}

async function described(): Promise<Bill> {
  const args = ['sbom', '--sbom-format', 'cyclonedx', '--sbom-type', 'application', '--package-lock-only'];
  const { stdout } = await promisify(execFile)('npm', args, { maxBuffer: 64 * 1024 * 1024 });
  return JSON.parse(stdout) as Bill;
}

requireNode('npm run sbom');
const lock = JSON.parse(await readFile('package-lock.json', 'utf8')) as Lock;
const bill = await described();
const running = runningHashes(lock);
bill.metadata.component.name = lock.name; // npm writes the folder's
bill.components = bill.components.filter(({ hashes = [] }) => hashes.some(({ content }) => running.has(content)));
const kept = new Set([bill.metadata.component, ...bill.components].map((component) => component['bom-ref']));
bill.dependencies = bill.dependencies
  .filter(({ ref }) => kept.has(ref))
  .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => kept.has(other)) }));
process.stdout.write(`${JSON.stringify(bill, null, 2)}\n`);
