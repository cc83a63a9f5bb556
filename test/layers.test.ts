import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import ts from 'typescript';
import { readImports } from '../bench/scenarios/mutate/imports.js';

/** Imports point one way: a folder may use itself and those before it. */
const LAYERS = ['storage', 'browser-pool', 'actors', 'server', 'bench', 'test'];
const ROOT = join(import.meta.dirname, '../..');

/** The first circle that a walk from any file runs into, as the files along it. */
function findCircle(imports: Map<string, string[]>): string[] | undefined {
  const done = new Set<string>();
  const walk = (file: string, path: string[]): string[] | undefined => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    if (done.has(file)) return undefined;
    for (const next of imports.get(file) ?? []) {
      const circle = walk(next, [...path, file]);
      if (circle) return circle;
    }
    done.add(file);
    return undefined;
  };
  for (const file of imports.keys()) {
    const circle = walk(file, []);
    if (circle) return circle;
  }
  return undefined;
}

const imports = readImports(ROOT, LAYERS, ['.ts', '.tsx']);
const layerOf = (file: string) => LAYERS.indexOf(file.split('/')[0] ?? '');

t.test('the reader sees every way of naming another file', async (t) => {
  const text = `import a from './a.js'; import type { B } from './b.js'; import { type C } from './c.js';
    export * from './d.js'; export type { E } from './e.js'; const f = await import('./f.js'); import './g.js';
    type H = import('./h.js').H;`;
  const seen = ts.preProcessFile(text, true, true).importedFiles.map(({ fileName }) => fileName);
  t.same(
    seen.sort(),
    [...'abcdefgh'].map((letter) => `./${letter}.js`),
  );
  t.ok(imports.size > 20, 'and finds the sources');
});

t.test('no folder imports from a higher one', async (t) => {
  const wrong = [...imports].flatMap(([file, used]) =>
    used.filter((other) => layerOf(other) < 0 || layerOf(other) > layerOf(file)).map((other) => `${file} -> ${other}`),
  );
  t.same(wrong, []);
});

t.test('no two files import each other in a circle', async (t) => {
  t.same(findCircle(imports) ?? [], []);
});

/** Folders whose README lists, under "Arrows", which of their rooms imports which. */
const ROOMED = ['storage', 'browser-pool', 'actors', 'server'];

/** A room is a subfolder (one of `browser-pool/social`), or a file that stands beside the subfolders. */
function roomOf(file: string): string {
  const [, ...path] = file.replace(/\.tsx?$/, '').split('/');
  return path.slice(0, path[0] === 'social' && path.length > 2 ? 2 : 1).join('/');
}

/** The arrows between the rooms of a folder, as `from -> to`. */
function roomArrows(folder: string): Set<string> {
  const inside = (file: string) => file.startsWith(`${folder}/`);
  const arrows = [...imports].flatMap(([file, used]) =>
    inside(file) ? used.filter(inside).map((other) => [roomOf(file), roomOf(other)] as const) : [],
  );
  return new Set(arrows.filter(([from, to]) => from !== to).map(([from, to]) => `${from} -> ${to}`));
}

/** The arrows that a folder's README allows: the indented lines `room -> room, room` of its section "Arrows". */
function allowedArrows(folder: string): Set<string> {
  const section =
    readFileSync(join(ROOT, folder, 'README.md'), 'utf8')
      .split(/^## Arrows$/m)[1]
      ?.split(/^## /m)[0] ?? '';
  const lines = [...section.matchAll(/^ {4}(\S+) -> (.+)$/gm)];
  return new Set(lines.flatMap(([, from, to = '']) => to.split(', ').map((room) => `${from} -> ${room}`)));
}

for (const folder of ROOMED) {
  t.test(`the rooms of ${folder} import each other as its README shows, in no circle`, async (t) => {
    const arrows = roomArrows(folder);
    const allowed = allowedArrows(folder);
    t.same([...arrows].filter((arrow) => !allowed.has(arrow)).sort(), [], 'no arrow that the README does not allow');
    t.same([...allowed].filter((arrow) => !arrows.has(arrow)).sort(), [], 'no arrow in the README that is no more');
    const rooms = new Map<string, string[]>();
    for (const arrow of arrows) {
      const [from = '', to = ''] = arrow.split(' -> ');
      rooms.set(from, [...(rooms.get(from) ?? []), to]);
    }
    t.same(findCircle(rooms) ?? [], []);
  });
}

t.test('the stand-in network shares no code with the service', async (t) => {
  const own = 'bench/sandbox/';
  const wrong = [...imports].flatMap(([file, used]) =>
    file.startsWith(own) ? used.filter((other) => !other.startsWith(own)).map((other) => `${file} -> ${other}`) : [],
  );
  t.same(wrong, []);
});

t.test('a circle is found', async (t) => {
  const circle = findCircle(new Map(Object.entries({ a: ['b'], b: ['c', 'd'], c: [], d: ['b'] })));
  t.same(circle, ['b', 'd', 'b']);
});
