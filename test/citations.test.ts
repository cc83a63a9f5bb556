import { basename, dirname, join, normalize } from 'node:path';
import t from 'tap';
import { lineAt, readSources, type Source, sourceOf } from './remarks.js';

/**
 * What comments and pages cite is there: decisions by id, sections of the contract by name, files, and the invariants that
 * a file lists. A dead citation sends its reader nowhere. Every finding names its file and line.
 */
const ROOT = join(import.meta.dirname, '../..');
const FOLDERS = ['storage', 'browser-pool', 'actors', 'server', 'bench', 'test'];

/** What can be cited, beside what a file lists itself. */
interface Citable {
  decisions: ReadonlySet<string>;
  sections: ReadonlySet<string>;
  files: readonly string[];
  /** The numbers of the invariants that a file lists. */
  invariants: ReadonlyMap<string, readonly number[]>;
}

/** Gives a line for each finding. */
type Check = (source: Source, citable: Citable) => string[];

/** The matches of `pattern` in the remarks for which `wrong` gives a finding. */
function findInRemarks({ file, remarks }: Source, pattern: RegExp, wrong: (match: RegExpMatchArray) => string | null) {
  return remarks.flatMap(({ line, text }) =>
    [...text.matchAll(pattern)].flatMap((match) => {
      const finding = wrong(match);
      return finding === null ? [] : [`${file}:${lineAt(text, match.index, line)} ${finding}`];
    }),
  );
}

/** Titles of tests cite, too. */
const wholeText = (source: Source): Source => ({ ...source, remarks: [{ line: 1, text: source.text }] });

const decisionsExist: Check = (source, { decisions }) =>
  findInRemarks(wholeText(source), /\b(?:HTTP|CLI|COMPAT|CONN|STO|OPS|EVT|SIM|NET|POOL)-\d+\b/g, ([id]) =>
    decisions.has(id) ? null : `no decision ${id}`,
  );

const plain = (name: string) => name.replaceAll('`', '').replace(/\s+/g, ' ').replace(/\.$/, '').trim();

/** Headings, rules in bold, and first cells of tables: the names by which a page can be cited. */
function sectionsOf(page: string): Set<string> {
  const bold = [...page.matchAll(/\*\*(.+?)\*\*/gs)].map(([, name]) => name);
  const headings = [...page.matchAll(/^#+ (.+)$/gm)].map(([, name]) => name);
  const cells = [...page.matchAll(/^\| *([^|]+)\|/gm)].flatMap(([, cell]) => [cell, ...(cell ?? '').split(',')]);
  return new Set([...bold, ...headings, ...cells].map((name) => plain(name ?? '')));
}

const CONTRACT = /(?<=[(;] ?|^ *)contract:\s+((?:"[^"]*"|[^;)"])*?)(?=[;)]|\.(?:\s|$)|$(?![\s\S]))/gim;

/** `Contract: social.profile.get, "Profile object".` and, in brackets, the same in small letters. */
const sectionsExist: Check = (source, { sections }) =>
  findInRemarks(source, CONTRACT, ([, cited = '']) => {
    const matches = cited.matchAll(/"([^"]+)"|^`?([\w.]+)`?$|^(social\.[\w.]+)/g);
    const names = [...matches].map(([, ...name]) => plain(name.join('')));
    if (names.length === 0) return `the contract is cited by no name: ${plain(cited)}`;
    const dead = names.filter((name) => name !== '…' && !sections.has(name));
    return dead.length === 0 ? null : `no section of the contract: ${dead.join(', ')}`;
  });

const FILE = /(?<![\w./*<:@-])(?:\.{1,2}\/)*[\w<*][\w<>*{},.-]*(?:\/[\w<>*{},.-]+)*\.(?:ts|sql|md)\b/g;
const FOLDER = /(?<=`)(?:\.\.\/)*[\w<*][\w<>*{},.-]*(?:\/[\w<>*{},.-]+)*\/(?=`)/g;

/** Names of files wherever they stand, and of folders in backticks: in comments those that begin at the root. */
const filesExist: Check = (source, { files }) => {
  const wrong = ([path]: RegExpMatchArray) => (isThere(path, source.file, files) ? null : `no file ${path}`);
  const isPage = source.file.endsWith('.md');
  const folders = findInRemarks(source, FOLDER, (match) =>
    isPage || FOLDERS.includes(match[0].split('/')[0] ?? '') ? wrong(match) : null,
  );
  return [...findInRemarks(source, FILE, wrong), ...folders];
};

/** A path leads from the citing file's folder, its top folder or the root; a bare name is a file in the top folder. */
function led(path: string, from: string, files: readonly string[]): readonly string[] {
  const top = from.includes('/') ? (from.split('/')[0] ?? '') : '';
  if (!path.includes('/')) return named(path, files).filter((file) => file.startsWith(top));
  const roots = new Set([dirname(from), top, '']);
  return [...roots].flatMap((root) => matching(normalize(join(root, path)), files));
}

const isThere = (path: string, from: string, files: readonly string[]) => led(path, from, files).length > 0;

/** A look through all files for each name that is cited, once. */
const looked = new WeakMap<readonly string[], Map<string, readonly string[]>>();

function once(key: string, files: readonly string[], look: () => readonly string[]): readonly string[] {
  const known = looked.get(files) ?? new Map<string, readonly string[]>();
  looked.set(files, known);
  const found = known.get(key) ?? look();
  known.set(key, found);
  return found;
}

const named = (name: string, files: readonly string[]) =>
  once(name, files, () => {
    const pattern = matcher(name);
    return files.filter((file) => pattern.test(basename(file)));
  });

function matching(path: string, files: readonly string[]): readonly string[] {
  return once(`/${path}`, files, () => {
    const pattern = matcher(path);
    return files.filter((file) => pattern.test(file));
  });
}

/** `<name>` and `*` stand for any part of a path, `{a,b}` for one of several; a folder for anything in it. */
function matcher(path: string): RegExp {
  const pattern = path
    .replace(/[.+?^$()|[\]\\]/g, '\\$&')
    .replace(/<[^>]*>|\*+/g, '[^/]+')
    .replace(/\{([^}]*)\}/g, (_, names: string) => `(?:${names.replaceAll(',', '|')})`);
  return new RegExp(`^${pattern}${path.endsWith('/') ? '' : '$'}`);
}

/** At the begin of a line or sentence, with what it is behind it. */
const LISTED = /(?:^|[.:;]\s)\s*I(\d+)(?=\.?\s+(?!and\b|of\b|or\b)\S+\s+\S)/gm;
const OTHER_LETTER = /\b[A-HJ-Z]\d(?= (?:at most|nothing|after|what|a|an|the)\b)/g;

/** One comment of a file lists its invariants, an I with a number each; any other comment cites them. */
function invariantsOf({ remarks }: Source): number[] {
  const numbersOf = (text: string) => [...text.matchAll(LISTED)].map(([, number]) => Number(number));
  return numbersOf(remarks.find(({ text }) => numbersOf(text)[0] === 1)?.text ?? '');
}

/** `// I2`, or with the name of another file: `I2 of one.ts`. */
const invariantsExist: Check = (source, { files, invariants }) => {
  if (!source.file.endsWith('.ts')) return [];
  const gaps = invariantsOf(source).filter((number, i) => number !== i + 1);
  return [
    ...gaps.map((number) => `${source.file} lists the invariant of number ${number} out of order`),
    ...findInRemarks(source, /\bI(\d+)\b(?:\s+of\s+`?([\w./-]+\.ts))?/g, ([cited, number, path]) => {
      const holders = path === undefined ? [source.file] : led(path, source.file, files);
      return holders.some((file) => invariants.get(file)?.includes(Number(number))) ? null : `no invariant ${cited}`;
    }),
    ...findInRemarks(source, OTHER_LETTER, ([name]) => `an invariant is an I with a number, not ${name}`),
  ];
};

/** Words for pages that are not in the repository. */
const nothingOutside: Check = (source) => {
  const finding = ([words]: RegExpMatchArray) => `points outside: ${words}`;
  return [
    ...findInRemarks(source, /\b(?:spec|design|style):|\bdecisions? [A-Z]\d+/gi, finding),
    ...findInRemarks(wholeText(source), /\bspec(?:ification)?s?\b(?!:)/gi, finding),
  ];
};

const read = readSources(ROOT, FOLDERS);
const pages = read.filter(({ file }) => basename(file) === 'DECISIONS.md');
const ids = pages.flatMap(({ text }) => [...text.matchAll(/^## ([A-Z]+-\d+)\. /gm)].map(([, id]) => id ?? ''));
const citable: Citable = {
  decisions: new Set(ids),
  sections: sectionsOf(read.find(({ file }) => file === 'server/CONTRACT.md')?.text ?? ''),
  files: read.map(({ file }) => file),
  invariants: new Map(read.map((source) => [source.file, invariantsOf(source)])),
};
// This file spells out what it looks for.
const checked = read.filter(({ file }) => file !== 'test/citations.test.ts');

const CHECKS: Record<string, Check> = {
  'every decision that is cited has an entry': decisionsExist,
  'every section of the contract that is cited is a name on its page': sectionsExist,
  'every file that is named is there': filesExist,
  'every invariant that is cited is listed in its file': invariantsExist,
  'nothing points to a page outside the repository': nothingOutside,
};
for (const [title, check] of Object.entries(CHECKS)) {
  t.test(title, async (t) => {
    const findings = checked.flatMap((source) => check(source, citable));
    for (const finding of findings) t.fail(finding, { stack: '', at: null });
    t.equal(findings.length, 0, 'no citation is dead');
  });
}

t.test('every decision has one entry, and its reason', async (t) => {
  t.same(
    ids.filter((id, i) => ids.indexOf(id) !== i),
    [],
    'no id stands twice',
  );
  const entries = pages.flatMap(({ text }) => text.split(/^## /m).slice(1));
  t.same(
    entries.filter((entry) => !/^_Why:_ /m.test(entry)),
    [],
    'none lacks its reason',
  );
  t.ok(ids.length > 80, 'and the entries are read');
});

t.test('dead citations are found', async (t) => {
  const files = ['server/a/one.ts', 'server/b/two.ts'];
  const sections = sectionsOf('## Events\n\n| `a.b`, c |');
  const known = { decisions: new Set(['OPS-1']), sections, files, invariants: new Map([['server/a/one.ts', [1, 2]]]) };
  const find = (check: Check, text: string, file = 'server/a/one.ts') =>
    check(sourceOf(file, text), known).map((finding) => finding.slice(file.length + 1));
  t.same(find(decisionsExist, "// OPS-1\nconst a = 'OPS-9';"), ['2 no decision OPS-9']);
  t.same(find(sectionsExist, 'type A = {\n  contract: string; // (contract: "Events"; OPS-1)\n};'), []);
  t.same(find(sectionsExist, '/**\n * (contract:\n * "Event" 4, x)\n */\nf();'), [
    '2 no section of the contract: Event',
  ]);
  t.same(find(sectionsExist, '/** Contract: social.a, "Events". */'), ['1 no section of the contract: social.a']);
  t.same(find(sectionsExist, '// (contract: as above)'), ['1 the contract is cited by no name: as above']);
  t.same(find(filesExist, '/* `two.ts`, `b/two.ts`, server/a/one.ts, `../b/<x>.ts`, `server/{a,c}/` */'), []);
  t.same(find(filesExist, 'f(); // `three.ts`\n// `server/c/`'), ['1 no file three.ts', '2 no file server/c/']);
  t.same(find(filesExist, '`a/one.ts`\n[two](b/two.ts)', 'actors/README.md'), [
    '1 no file a/one.ts',
    '2 no file b/two.ts',
  ]);
  const head = sourceOf('one.ts', '/**\n * Rules.\n *\n * I1. At most one.\n * I2. None of it.\n */\nf(); // I3\n');
  t.same(invariantsOf(head), [1, 2]);
  t.same(find(invariantsExist, 'f(); // I2\n/** I3. */\ng();'), ['2 no invariant I3']);
  t.same(find(invariantsExist, '// I2 of `one.ts`\n// (I3 of one.ts)', 'server/b/two.ts'), [
    '2 no invariant I3 of one.ts',
  ]);
  t.same(find(nothingOutside, '// spec: 3\nf();'), ['1 points outside: spec:']);
});
