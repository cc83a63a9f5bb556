import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

/** What tests that read the sources have in common. */
const ROOT = join(import.meta.dirname, '../..');
export const FOLDERS = ['storage', 'browser-pool', 'actors', 'server', 'bench', 'test'];

export interface SourceText {
  /** Relative to the root. */
  file: string;
  text: string;
}

/** Every TypeScript file of these folders. */
export function sourceTexts(folders: readonly string[]): SourceText[] {
  return folders.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => join(folder, name))
      .map((file) => ({ file, text: readFileSync(join(ROOT, file), 'utf8') })),
  );
}

const trees = new Map<string, ts.SourceFile>();

/** The tree of a source, which is made once a process. */
export function parsed({ file, text }: SourceText): ts.SourceFile {
  const known = trees.get(file);
  if (known?.text === text) return known;
  const tree = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  trees.set(file, tree);
  return tree;
}

/** `file:line` of a node. */
export function placeOf(node: ts.Node): string {
  const source = node.getSourceFile();
  return `${source.fileName}:${source.getLineAndCharacterOfPosition(node.getStart()).line + 1}`;
}

/** Calls `visit` with every node below this one, itself too. */
export function everyNode(node: ts.Node, visit: (node: ts.Node) => void): void {
  visit(node);
  ts.forEachChild(node, (child) => everyNode(child, visit));
}
