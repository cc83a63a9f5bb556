import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import ts from 'typescript';

/** The files that each file names, as paths from the same root. */
export type Imports = Map<string, string[]>;

/**
 * Every file of these folders below `root` with the project's files that it names: imports, re-exports and dynamic imports, of sources
 * (`.ts`) type imports as well. `endings` are those of the files, and what a `.js` in an import may stand for.
 */
export function readImports(root: string, folders: readonly string[], endings: readonly string[]): Imports {
  const files = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => endings.some((ending) => name.endsWith(ending)))
      .map((name) => join(folder, name)),
  );
  const known = new Set(files);
  return new Map(
    files.map((file) => [file, importsOf(root, file).map((name) => resolved(known, endings, file, name))]),
  );
}

/**
 * The same with the programs that a file starts as a thread or a process: it names each in a call of `programFile` or `threadPool`, by its
 * module without the ending.
 */
export function withPrograms(root: string, imports: Imports): Imports {
  return new Map(
    [...imports].map(([file, named]) => {
      const calls = readFileSync(join(root, file), 'utf8').matchAll(/\b(?:programFile|threadPool)\('([\w/-]+)'/g);
      return [file, [...named, ...[...calls].map(([, program]) => `${program}.js`).filter((one) => imports.has(one))]];
    }),
  );
}

function importsOf(root: string, file: string): string[] {
  const { importedFiles } = ts.preProcessFile(readFileSync(join(root, file), 'utf8'), true, true);
  return importedFiles.map(({ fileName }) => fileName).filter((name) => name.startsWith('.'));
}

function resolved(known: Set<string>, endings: readonly string[], from: string, name: string): string {
  const path = normalize(join(dirname(from), name));
  return endings.map((ending) => path.replace(/\.js$/, ending)).find((file) => known.has(file)) ?? path;
}

/** Everything that imports the file, directly or through others, with how many imports lie between: 1 for those that name it. */
export function importersOf(imports: Imports, file: string): Map<string, number> {
  const users = usersOf(imports);
  const found = new Map<string, number>();
  let reached = [file];
  for (let distance = 1; reached.length > 0; distance++) {
    const next = new Set(reached.flatMap((one) => users.get(one) ?? []));
    reached = [...next].filter((one) => one !== file && !found.has(one));
    for (const one of reached) found.set(one, distance);
  }
  return found;
}

function usersOf(imports: Imports): Imports {
  const users: Imports = new Map();
  for (const [file, named] of imports) {
    for (const one of named) users.set(one, [...(users.get(one) ?? []), file]);
  }
  return users;
}
