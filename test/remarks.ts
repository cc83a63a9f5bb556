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

const COMMENT = /\/\*[\s\S]*?\*\/|\/\/.*/g;

/** What looks like a comment outside of texts is one. */
function comments(text: string): Comment[] {
  const source = ts.createSourceFile('source.ts', text, ts.ScriptTarget.Latest);
  return [...withoutTexts(source, text).matchAll(COMMENT)].map(({ index, 0: { length } }) => {
    const comment = text.slice(index, index + length);
    const bare = comment.replace(/^ *(?:\/\*\*?|\/\/|\*\/|\* ?)/gm, '');
    const { line } = source.getLineAndCharacterOfPosition(index);
    return { line: line + 1, text: bare, short: comment.startsWith('//') };
  });
}

/** The source with nothing in its strings, templates and patterns; all else stands where it stood. */
function withoutTexts(source: ts.SourceFile, text: string): string {
  let rest = '';
  let at = 0;
  const visit = (node: ts.Node) => {
    if (ts.isLiteralExpression(node) || ts.isTemplateLiteralToken(node)) {
      const start = node.getStart(source);
      rest += text.slice(at, start) + ' '.repeat(node.end - start);
      at = node.end;
    } else ts.forEachChild(node, visit);
  };
  visit(source);
  return rest + text.slice(at);
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
