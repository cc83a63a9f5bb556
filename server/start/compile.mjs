import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { runInNewContext } from 'node:vm';
import { bundlePrograms } from './bundle.mjs';
import { bundlePages, faultsOfPages, PAGES } from './console-pages.mjs';

/**
 * Brings `dist` up to date with the sources: `npm run build`, and before what npm starts. Not TypeScript itself, because it runs before
 * there is a `dist`.
 *
 * I1. `dist/.built` has the hash of every source that `dist` was made of. It is taken away before anything is written and written last:
 *     a compilation that was broken off is done again. Hashes, not times: a copy of the folder is as good as the folder.
 * I2. Where the compiler is not installed, `dist` is used if it was made of the sources that are there: a production image leaves tests
 *     and tools away.
 * I3. Only what changed is checked and written again, but for files with typia's validators: these are made of types that other files
 *     declare, and TypeScript, which takes a file's JavaScript to depend on that file alone, would leave them as they were. They are
 *     the same as if all had been compiled only with `stableTypeOrdering`: else a union has the order in which its types were met.
 * I4. One process compiles at a time: the service and the receiver are started side by side. Whoever waited looks again.
 */
const ROOT = join(import.meta.dirname, '../..');
const DIST = join(ROOT, 'dist');
const MARK = join(DIST, '.built');
const BUILD_INFO = join(DIST, '.tsbuildinfo');
/**
 * The viewer of the reference: one program, which its maker bundles as a string into this file. The package `@scalar/api-reference` has
 * the same bytes as a file of their own, and brings 270 packages that they were made from.
 */
const VIEWER = { from: join(ROOT, 'node_modules/@scalar/fastify-api-reference/dist/index.js'), to: 'viewer.js' };
const VIEWER_TEXT = /^var standalone_default = (".*");$/m;

/** What is left of typia once its calls have become code: nothing uses it, and it loads a hundred files. */
const TYPIA = /^import typia(, {})? from 'typia';$/m;

const { include } = JSON.parse(readFileSync(join(ROOT, 'tsconfig.json'), 'utf8'));
const { dependencies, devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

/** With the types that go when the tree is pruned of its development packages: the compiler itself stays, because typia names it. */
const COMPILER = [
  'typescript',
  'esbuild',
  'typia/lib/transform',
  ...Object.keys(devDependencies)
    .filter((name) => name.startsWith('@types/'))
    .map((name) => `${name}/package.json`),
];

/** The hash of each source, by its path; with them, of what else decides the result. */
function hashSources() {
  const files = include.flatMap((folder) =>
    list(join(ROOT, folder))
      .map((file) => join(folder, file))
      .filter((file) => file.endsWith('.ts') || isOfPages(file)),
  );
  const hashes = ['tsconfig.json', ...files].map((file) => [file, sha256(readFileSync(join(ROOT, file)))]);
  return new Map([...hashes, ['packages', sha256(JSON.stringify([dependencies, devDependencies]))]]);
}

/** Sources of the pages, which have no file of their own in `dist`. */
const isOfPages = (file) => file.startsWith(`${PAGES}/`) && /\.(tsx?|css|json)$/.test(file);

const sha256 = (data) => createHash('sha256').update(data).digest('hex');

/** The paths of all that is below a folder; none where there is no such folder. */
function list(folder) {
  try {
    return readdirSync(folder, { recursive: true });
  } catch (error) {
    if (error.code === 'ENOENT') return [];
    throw error;
  }
}

/** The hashes of the sources that `dist` was made of; null where it is missing or not whole. */
function hashesOfDist() {
  try {
    return new Map(JSON.parse(readFileSync(MARK, 'utf8')));
  } catch {
    return null;
  }
}

/** Whether `dist` is whole, has all of these sources as they are, and was made of no other. */
function compared(hashes) {
  const built = hashesOfDist();
  const same = built !== null && [...hashes].every(([file, hash]) => built.get(file) === hash);
  return { whole: built !== null, same, exact: same && built.size === hashes.size };
}

function compilerIsInstalled() {
  const { resolve } = createRequire(import.meta.url);
  try {
    for (const name of COMPILER) resolve(name);
    return true;
  } catch {
    return false;
  }
}

async function compile(hashes) {
  process.stderr.write('Compiling\n');
  const { default: ts } = await import('typescript');
  const { default: validators } = await import('typia/lib/transform');
  const sources = [...hashes.keys()].filter((file) => file.endsWith('.ts') && !isOfPages(file));
  const expected = sources.map((file) => file.replace(/ts$/, 'js'));
  const present = new Set(list(DIST));
  // TypeScript takes it for granted that what it wrote is still there.
  if (!expected.every((file) => present.has(file))) rmSync(BUILD_INFO, { force: true });

  const faults = [];
  const report = (diagnostic) => faults.push(diagnostic);
  const config = ts.getParsedCommandLineOfConfigFile(
    join(ROOT, 'tsconfig.json'),
    {},
    { ...ts.sys, onUnRecoverableConfigFileDiagnostic: report },
  );
  const host = ts.createIncrementalCompilerHost(config.options);
  const builder = ts.createIncrementalProgram({ rootNames: config.fileNames, options: config.options, host });
  faults.push(...config.errors, ...builder.getSyntacticDiagnostics(), ...builder.getGlobalDiagnostics());
  if (faults.length === 0) faults.push(...builder.getSemanticDiagnostics());
  if (faults.length === 0) faults.push(...faultsOfPages(ts));
  const written = new Map();
  if (faults.length === 0) {
    const program = builder.getProgram();
    const transformers = { before: [validators(program, {}, { ts, addDiagnostic: report })] };
    const write = (file, text) => written.set(file, text.replace(TYPIA, ''));
    builder.emit(undefined, write, undefined, false, transformers);
    for (const source of program.getSourceFiles()) {
      const output = join(DIST, relative(ROOT, source.fileName)).replace(/ts$/, 'js');
      if (/from 'typia'/.test(source.text) && !source.isDeclarationFile && !written.has(output)) {
        program.emit(source, write, undefined, false, transformers); // I3
      }
    }
  }
  if (faults.length > 0) {
    const format = process.stderr.isTTY ? ts.formatDiagnosticsWithColorAndContext : ts.formatDiagnostics;
    const names = { getCurrentDirectory: () => ROOT, getCanonicalFileName: (name) => name, getNewLine: () => '\n' };
    throw new Error(format(faults, names).trim());
  }
  rmSync(MARK, { force: true }); // I1
  removeStrays(present, new Set([...expected, VIEWER.to]));
  for (const [file, text] of written) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  await bundlePages();
  await bundlePrograms();
  writeFileSync(join(DIST, VIEWER.to), viewer());
  writeFileSync(MARK, JSON.stringify([...hashes], null, 1));
}

/** The viewer's program. Throws where its maker no longer writes the string in one line. */
function viewer() {
  const [, literal] = VIEWER_TEXT.exec(readFileSync(VIEWER.from, 'utf8')) ?? [];
  if (!literal) throw new Error(`${VIEWER.from} has no viewer: see VIEWER in server/start/compile.mjs`);
  return runInNewContext(literal);
}

/** A test or program whose source is gone must not run from `dist`. */
function removeStrays(present, expected) {
  for (const file of present) {
    if (/\.js(\.map)?$/.test(file) && !expected.has(file.replace(/\.map$/, ''))) rmSync(join(DIST, file));
  }
}

/** Runs `work` when no other process does (I4): by a lock of the kernel, which ends with its holder. Where there is no `flock`, at once. */
async function alone(work) {
  mkdirSync(DIST, { recursive: true });
  const file = openSync(join(DIST, '.compiling'), 'a');
  const lock = (...options) =>
    execFileSync('flock', [...options, '3'], { stdio: ['ignore', 'ignore', 'ignore', file] });
  try {
    try {
      lock('--nonblock', '--conflict-exit-code', '75');
    } catch (error) {
      if (error.status === 75) {
        process.stderr.write('Waiting for another process that compiles\n');
        lock();
      }
    }
    await work();
  } finally {
    closeSync(file);
  }
}

/** Compiles when it has to. Throws one Error that says what to do. */
async function bringUpToDate() {
  const hashes = hashSources();
  const { whole, same, exact } = compared(hashes);
  if (!compilerIsInstalled() && !same) {
    const what = whole ? 'was made of other sources than are here' : 'is missing or not whole';
    throw new Error(`dist ${what}, and the compiler is not installed: run npm install, then npm run build`);
  }
  if (compilerIsInstalled() && !exact) {
    await alone(async () => {
      if (!compared(hashes).exact) await compile(hashes);
    });
  }
}

try {
  await bringUpToDate();
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exit(1); // what imports this file must not go on
}
