import t from 'tap';
import ts from 'typescript';
import { FOLDERS, parsed, placeOf, sourceTexts } from './syntax.js';

/**
 * Whoever waits on a promise is kept until that promise settles: a wait that ended another way, again and again on a promise that
 * lives as long as the process, fills its memory. So a wait that can end without its promise takes only promises that were
 * made for it: by a call that stands there, or in a `const` of the same function.
 *
 * Such waits are `Promise.race`, `Promise.any`, and those of the project, which wait on what they are given.
 */
/** The project's: how one is called, and which argument is the promise. */
const OWN: [called: RegExp, argument: number][] = [
  [/^Deadline\.within$/, 1],
  [/^succeedsWithin$/, 1],
  [/\.#inTime$/, 1],
  [/(?<!^Promise)\.race$/, 0], // of a Deadline
  [/\.unlessAway$/, 0],
];

/** Where they are, and may wait on a parameter: what is given to them is looked at where they are called. */
const GIVEN = [
  'storage/process/deadline.ts',
  'storage/postgres/reachability.ts',
  'browser-pool/chromium/browser-checks.ts',
  'browser-pool/runs/artifacts.ts',
];

const ADVICE =
  'put a promise of its own under a `Deadline`, or keep the settling functions in a set and take them out (`unlessAway`)';

/** The promises that a call waits on without being sure that they settle; undefined for any other call. */
function racers({ expression, arguments: given }: ts.CallExpression): readonly ts.Expression[] | undefined {
  const called = expression.getText();
  if (called === 'Promise.race' || called === 'Promise.any') {
    return given[0] && ts.isArrayLiteralExpression(given[0]) ? given[0].elements : given;
  }
  const own = OWN.find(([name]) => name.test(called));
  return own && given.slice(own[1], own[1] + 1);
}

/** Whether the promise was made for this wait, as far as the text of its function shows. */
function ownOfWait(promise: ts.Expression, within: ts.Node, mayBeGiven: boolean): boolean {
  const own = (part: ts.Expression) => ownOfWait(part, within, mayBeGiven);
  if (ts.isParenthesizedExpression(promise) || ts.isAsExpression(promise) || ts.isNonNullExpression(promise)) {
    return own(promise.expression);
  }
  if (ts.isNewExpression(promise)) return true;
  if (ts.isConditionalExpression(promise)) return own(promise.whenTrue) && own(promise.whenFalse);
  if (ts.isCallExpression(promise)) {
    const inner = racers(promise);
    if (inner) return inner.every(own);
    // `this.#ended.then(…)` waits on `this.#ended`; any other call makes what it gives.
    const { expression } = promise;
    const chained =
      ts.isPropertyAccessExpression(expression) && ['then', 'catch', 'finally'].includes(expression.name.text);
    return !chained || own(expression.expression);
  }
  // Of what was made here as well: `Promise.withResolvers()`, or an object of a class.
  if (ts.isPropertyAccessExpression(promise)) return ts.isIdentifier(promise.expression) && own(promise.expression);
  if (!ts.isIdentifier(promise)) return promise.kind === ts.SyntaxKind.NullKeyword;
  const made = declaration(promise.text, within);
  if (!made) return false;
  if (ts.isParameter(made)) return mayBeGiven;
  return made.initializer !== undefined && own(made.initializer);
}

/** The parameter or variable of that name in the function itself, not in one around it. */
function declaration(name: string, within: ts.Node): ts.ParameterDeclaration | ts.VariableDeclaration | undefined {
  let found: ts.ParameterDeclaration | ts.VariableDeclaration | undefined;
  const look = (node: ts.Node): void => {
    const declares = ts.isParameter(node) || ts.isVariableDeclaration(node);
    if (declares && ts.isIdentifier(node.name) && node.name.text === name) found ??= node;
    if (node === within || !ts.isFunctionLike(node)) ts.forEachChild(node, look);
  };
  look(within);
  return found;
}

/** The waits of a file that take a promise which others may hold, as `file:line text`. */
function faults(file: string, text: string): string[] {
  const source = parsed({ file, text });
  const found: string[] = [];
  const look = (node: ts.Node, within: ts.Node): void => {
    if (ts.isCallExpression(node)) {
      const foreign = racers(node)?.filter((racer) => !ownOfWait(racer, within, GIVEN.includes(file))) ?? [];
      for (const racer of foreign)
        found.push(`${placeOf(node)} waits on ${racer.getText()}, which may outlive the wait`);
    }
    ts.forEachChild(node, (child) => look(child, ts.isFunctionLike(node) ? node : within));
  };
  look(source, source);
  return found;
}

t.test('no wait that can end by itself holds on to a promise that lives longer', async (t) => {
  const files = sourceTexts(FOLDERS);
  t.ok(files.length > 400);
  t.same(
    files.flatMap(({ file, text }) => faults(file, text)),
    [],
    ADVICE,
  );
});

t.test('such a wait is found, and what is right is let be', async (t) => {
  const wrong = [
    'class A { #ended; async b() { await Promise.race([this.#ended, f()]); } }',
    'class A { #ended; async b() { await Promise.race([f(), this.#ended.then(() => 1)]); } }',
    'class A { #ended; async b() { const ended = this.#ended; await Promise.any([f(), ended]); } }',
    'class A { #ended; async b() { await Deadline.within(5, this.#ended); } }',
    'class A { #ended; async b() { await this.#deadline.race(this.#ended); } }',
    'class A { #gone; async b() { await Promise.race([f(), this.#gone.promise]); } }',
    'const ended = f(); async function b() { await Promise.race([f(), ended]); }',
    'function a() { const ended = f(); return async () => Promise.race([f(), ended]); }',
    'async function b(ended) { await Promise.race([f(), ended]); }',
    'async function b(all) { await Promise.race(all); }',
    'class A { #ended; async b() { await Deadline.within(5, Promise.race([f(), this.#ended])); } }',
  ];
  for (const text of wrong) t.equal(faults('x.ts', text).length > 0, true, text);
  const right = [
    'async function b() { await Promise.race([f(), g().then(() => 1), new Promise(() => {})]); }',
    'async function b() { const a = f(); const gone = Promise.withResolvers(); await Promise.race([a, gone.promise]); }',
    'async function b() { await Deadline.within(5, f()); }',
    'const ended = f(); await Promise.race([ended, g()]);',
    'async function b() { const sampler = new Sampler(); await Promise.race([f(), sampler.failed]); }',
    'const all = await Promise.all([this.#ended]);',
  ];
  for (const text of right) t.same(faults('x.ts', text), [], text);
  t.same(faults(GIVEN[0] ?? '', 'async function b(work) { await Promise.race([f(), work]); }'), []);
});
