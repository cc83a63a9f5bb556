import { execFile, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cp, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { LIMITS } from '../kit/limits.js';

const run = promisify(execFile);

/** This folder of the sources: what is no TypeScript stands there alone. */
export const SOURCES = join(import.meta.dirname, '../../../bench/peers');

/**
 * The peers' programs with their packages, in a folder below `.data/`: it is named after the lock file, so that other versions are
 * installed anew. Throws when they cannot be had.
 */
export async function installPeers(say: (line: string) => void): Promise<string> {
  const programs = join(SOURCES, 'programs');
  const lock = createHash('sha256').update(await readFile(join(programs, 'package-lock.json')));
  const folder = join(process.cwd(), '.data/bench', `peers-${lock.digest('hex').slice(0, 8)}`);
  await mkdir(folder, { recursive: true });
  await cp(programs, folder, { recursive: true });
  // npm writes this list of what is installed last.
  const installed = await readFile(join(folder, 'node_modules/.package-lock.json')).catch(() => null);
  if (!installed) {
    say(`installing the peers' packages into ${folder}, for this comparison only`);
    // Not `npm ci`: npm 11 wants packages of other platforms in a lock file, and npm does not list them.
    const install = ['install', '--no-audit', '--no-fund', '--ignore-scripts'];
    await run('npm', install, { cwd: folder, timeout: LIMITS.install_ms }).catch(
      (error: Error & { stderr?: string }) => {
        const reason = /^npm error (?!code)(.+)/m.exec(error.stderr ?? '')?.[1] ?? error.message.split('\n', 1)[0];
        throw new Error(`the peers' packages could not be installed: ${reason}`);
      },
    );
  }
  return folder;
}

/** Programs of the system, by what asks them for their version, and apt's package of each. */
const PACKAGES = { wrk: 'wrk', 'redis-server': 'redis-server' } as const;
export type SystemProgram = keyof typeof PACKAGES;

/** Gets what is missing with apt, as root. Throws one line that says what to install otherwise. */
export async function installPrograms(programs: SystemProgram[], say: (line: string) => void): Promise<void> {
  const missing = programs.filter((program) => spawnSync(program, ['--version']).error).map((one) => PACKAGES[one]);
  if (missing.length === 0) return;
  const wanted = `peers needs ${missing.join(' and ')}: install with apt-get install ${missing.join(' ')}`;
  if (process.getuid?.() !== 0) throw new Error(wanted);
  say(`installing ${missing.join(' and ')} with apt`);
  try {
    await run('apt-get', ['update'], { timeout: LIMITS.install_ms });
    const install = ['install', '--yes', '--no-install-recommends', ...missing];
    await run('apt-get', install, {
      timeout: LIMITS.install_ms,
      // A package's own service would answer for the peer's.
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' },
    });
  } catch {
    throw new Error(wanted);
  }
}
