import { rmSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The pages that run in a browser: they are checked as a program of their own, because they see a page's globals and not Node's, and
 * each is bundled into one script and one style sheet. What they import is no part of the service.
 */
const ROOT = join(import.meta.dirname, '../..');
export const PAGES = 'server/console/page';
const BUNDLES = join(ROOT, 'dist/server/console/files');
/** By the name of the page: where it begins. */
const ENTRIES = { console: 'console/main.tsx', reconnect: 'reconnect/main.tsx' };

/** What is wrong with the pages. Files that they import types from belong to the other program, which finds what is wrong with those. */
export function faultsOfPages(ts) {
  const faults = [];
  const config = ts.getParsedCommandLineOfConfigFile(
    join(ROOT, PAGES, 'tsconfig.json'),
    {},
    { ...ts.sys, onUnRecoverableConfigFileDiagnostic: (fault) => faults.push(fault) },
  );
  faults.push(...config.errors);
  const program = ts.createProgram({ rootNames: config.fileNames, options: config.options });
  for (const name of config.fileNames) {
    const source = program.getSourceFile(name);
    faults.push(...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source));
  }
  return faults;
}

/** Writes the bundles; each file's name has a hash of its content, so that browsers may keep it for ever. */
export async function bundlePages() {
  const { build } = await import('esbuild');
  rmSync(BUNDLES, { recursive: true, force: true });
  await build({
    entryPoints: Object.fromEntries(Object.entries(ENTRIES).map(([name, file]) => [name, join(ROOT, PAGES, file)])),
    outdir: BUNDLES,
    entryNames: '[name]-[hash]',
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    logLevel: 'error',
  });
}
