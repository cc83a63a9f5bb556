import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

/** A comment without its markers, line by line, or a whole page. */
export interface Remark {
  /** Its first line in the file, from 1. */
  line: number;
  text: string;
}

export interface Source {
  file: string;
  text: string;
  remarks: Remark[];
}

/** Every source, statement file and page in the root and these folders; paths are relative to the root. */
export function readSources(root: string, folders: readonly string[]): Source[] {
  const inFolders = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  );
  return [...readdirSync(root), ...inFolders]
    .filter((file) => /\.(?:ts|sql|md)$/.test(file))
    .map((file) => sourceOf(file, readFileSync(join(root, file), 'utf8')));
}

export function sourceOf(file: string, text: string): Source {
  if (file.endsWith('.md')) return { file, text, remarks: [{ line: 1, text }] };
  return { file, text, remarks: joined(file.endsWith('.sql') ? sqlComments(text) : comments(text)) };
}

/** The line of an offset in a text that begins at line `first`. */
export function lineAt(text: string, offset: number, first = 1): number {
  return first + text.slice(0, offset).split('\n').length - 1;
}

interface Comment extends Remark {
  /** Ends with its line: the next one may go on with the sentence. */
  short: boolean;
}

/** Comments stand between tokens, so those before and behind each token are all there are. */
function comments(text: string): Comment[] {
  const source = ts.createSourceFile('source.ts', text, ts.ScriptTarget.Latest);
  const found = new Map<number, Comment>();
  const visit = (node: ts.Node) => {
    if (ts.isJSDoc(node)) return;
    const children = node.getChildren(source);
    for (const child of children) visit(child);
    if (children.length > 0) return;
    for (const rangesAt of [ts.getLeadingCommentRanges, ts.getTrailingCommentRanges]) {
      for (const { pos, end, kind } of rangesAt(text, node.pos) ?? []) {
        const bare = text.slice(pos, end).replace(/^ *(?:\/\*\*?|\/\/|\*\/|\* ?)/gm, '');
        const short = kind === ts.SyntaxKind.SingleLineCommentTrivia;
        found.set(pos, { line: lineAt(text, pos), text: bare, short });
      }
    }
  };
  visit(source);
  return [...found].sort(([a], [b]) => a - b).map(([, comment]) => comment);
}

function sqlComments(text: string): Comment[] {
  return [...text.matchAll(/--(.*)/g)].map((match) => {
    return { line: lineAt(text, match.index), text: match[1] ?? '', short: true };
  });
}

/** Short comments on lines that follow each other are one remark. */
function joined(all: Comment[]): Remark[] {
  return all.reduce<Comment[]>((remarks, comment) => {
    const last = remarks.at(-1);
    const goesOn = last?.short && comment.short && comment.line === last.line + last.text.split('\n').length;
    if (goesOn) last.text += `\n${comment.text}`;
    else remarks.push({ ...comment });
    return remarks;
  }, []);
}
