import { dirname, join, normalize } from 'node:path';
import t from 'tap';
import ts from 'typescript';
import { everyNode, parsed, placeOf, type SourceText, sourceTexts } from './syntax.js';

/**
 * No assertion holds a time or a rate of the clock: on a loaded machine it fails without a fault, or hides one. A value of
 * `performance.now()`, `Date.now()` or `process.hrtime` is followed through the names of its file, and through those of the fixtures that the
 * file imports; no comparison and no assertion may have it.
 */
const ADVICE =
  'count something (`test/fixture/measures.ts` has turns of the event loop, processor time, the order of events), or move it to a *.long.ts';

/** Where the clock itself is what is looked at, with the reason. */
const EXCEPTIONS: Record<string, string> = {
  'test/actors/deliveries/dispatcher.test.ts':
    'a time in a row and in a signature is that of the right one of two clocks',
  'test/bench/read-rows.test.ts': 'the times that the checker reads are between the clock before and after',
  'test/server/admin/admin.test.ts': 'the end of an overlap in an answer is the clock of the moment and the overlap',
  'test/server/routes/subscriptions/events.test.ts':
    'the end of an overlap in an answer is the clock of the moment and the overlap',
  'test/storage/model/new-id.test.ts': 'the time in an id is between the clock before and after',
};

const CLOCK = /^(?:performance\.now|Date\.now|process\.hrtime(?:\.bigint)?)$/;
const COMPARISONS = new Set([
  ts.SyntaxKind.LessThanToken,
  ts.SyntaxKind.LessThanEqualsToken,
  ts.SyntaxKind.GreaterThanToken,
  ts.SyntaxKind.GreaterThanEqualsToken,
  ts.SyntaxKind.EqualsEqualsEqualsToken,
  ts.SyntaxKind.ExclamationEqualsEqualsToken,
]);
/** Of tap, what compares its first argument with others. */
const ASSERTION = /^t\.(?:equal|not|same|notSame|strictSame|match|has)$/;

/** The names of a file that stand for a time: variables, functions that give one, fields. */
class Times {
  readonly #names: Set<string>;

  constructor(source: ts.SourceFile, imported: Iterable<string>) {
    this.#names = new Set(imported);
    for (let before = -1; before !== this.#names.size; ) {
      before = this.#names.size;
      everyNode(source, (node) => this.#learn(node));
    }
  }

  get names(): ReadonlySet<string> {
    return this.#names;
  }

  /** Whether an expression has a time of the clock in it: not in a function that it holds, and not in an argument of an unknown call. */
  has(node: ts.Node): boolean {
    if (ts.isFunctionLike(node)) return false;
    if (ts.isIdentifier(node)) return this.#names.has(node.text);
    if (ts.isPropertyAccessExpression(node)) {
      return this.#names.has(node.name.text) || (node.name.text !== 'length' && this.has(node.expression));
    }
    if (ts.isCallExpression(node)) {
      const called = node.expression.getText();
      if (CLOCK.test(called) || this.has(node.expression)) return true;
      return /^(?:Math\.\w+|Number|BigInt)$/.test(called) && node.arguments.some((one) => this.has(one));
    }
    if (ts.isNewExpression(node) || ts.isObjectLiteralExpression(node)) return false;
    if (ts.isConditionalExpression(node)) return this.has(node.whenTrue) || this.has(node.whenFalse);
    if (ts.isBinaryExpression(node) && COMPARISONS.has(node.operatorToken.kind)) return false;
    return ts.forEachChild(node, (child) => this.has(child) || undefined) ?? false;
  }

  #learn(node: ts.Node): void {
    if (ts.isVariableDeclaration(node) && node.initializer) {
      const names = ts.isIdentifier(node.name)
        ? [node.name]
        : ts.isArrayBindingPattern(node.name)
          ? namesOf(node.name)
          : [];
      if (names.length > 0 && this.#gives(node.initializer)) for (const { text } of names) this.#names.add(text);
    } else if (ts.isFunctionDeclaration(node) && node.name) {
      if (this.#gives(node)) this.#names.add(node.name.text);
    } else if (ts.isPropertyAssignment(node) && ts.isIdentifier(node.name)) {
      if (this.has(node.initializer)) this.#names.add(node.name.text);
    } else if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.EqualsToken) {
      if (ts.isIdentifier(node.left) && this.has(node.right)) this.#names.add(node.left.text);
    } else if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)) {
      const { name, expression } = node.expression;
      const keeps = name.text === 'push' && ts.isIdentifier(expression) && node.arguments.some((one) => this.has(one));
      if (keeps) this.#names.add((expression as ts.Identifier).text);
    }
  }

  /** Whether it is a time, or a function that gives one. */
  #gives(node: ts.Node): boolean {
    if (!ts.isFunctionLike(node)) return this.has(node);
    const { body } = node as ts.ArrowFunction;
    if (!body) return false;
    if (!ts.isBlock(body)) return this.has(body);
    const returns = (part: ts.Node): boolean =>
      ts.isReturnStatement(part)
        ? part.expression !== undefined && this.has(part.expression)
        : !ts.isFunctionLike(part) && (ts.forEachChild(part, (child) => returns(child) || undefined) ?? false);
    return returns(body);
  }
}

const namesOf = ({ elements }: ts.ArrayBindingPattern): ts.Identifier[] =>
  elements.flatMap((one) => (ts.isBindingElement(one) && ts.isIdentifier(one.name) ? [one.name] : []));

/** Files of the tests that a file imports. */
function importsOf(source: ts.SourceFile): string[] {
  return source.statements.filter(ts.isImportDeclaration).flatMap(({ moduleSpecifier }) => {
    const from = (moduleSpecifier as ts.StringLiteral).text;
    return from.startsWith('.') ? [normalize(join(dirname(source.fileName), from)).replace(/\.js$/, '.ts')] : [];
  });
}

/** Comparisons and assertions on a time, as `file:line text`. */
function faults(files: readonly SourceText[]): string[] {
  const sources = new Map(files.map((one) => [one.file, parsed(one)]));
  const fixtures = new Map(
    [...sources]
      .filter(([file]) => !/\.(?:test|long)\.ts$/.test(file))
      .map(([file, source]) => [file, new Times(source, []).names]),
  );
  return [...sources]
    .filter(([file]) => !file.endsWith('.long.ts') && !(file in EXCEPTIONS))
    .flatMap(([, source]) => {
      const times = new Times(
        source,
        importsOf(source).flatMap((file) => [...(fixtures.get(file) ?? [])]),
      );
      const found: string[] = [];
      everyNode(source, (node) => {
        const compares = ts.isBinaryExpression(node) && COMPARISONS.has(node.operatorToken.kind);
        const compared = compares
          ? [node.left, node.right]
          : ts.isCallExpression(node) && ASSERTION.test(node.expression.getText())
            ? node.arguments.slice(0, 2)
            : [];
        if (compared.some((one) => times.has(one))) found.push(`${placeOf(node)} ${node.getText().slice(0, 80)}`);
      });
      return found;
    });
}

t.test('no assertion of the suite holds a time of the clock', async (t) => {
  const files = sourceTexts(['test']);
  t.ok(files.length > 200);
  t.same(faults(files), [], ADVICE);
});

t.test('an exception is a file that is there, and has such a comparison', async (t) => {
  const files = sourceTexts(['test']);
  for (const [file, reason] of Object.entries(EXCEPTIONS)) {
    t.ok(reason.length > 10, file);
    const one = files.find((other) => other.file === file);
    t.ok(one && faults([{ ...one, file: `again/${file}` }]).length > 0, `${file} needs none any more`);
  }
});

t.test('such a comparison is found, and what is right is let be', async (t) => {
  const fixture = {
    file: 'test/fixture/x.ts',
    text: 'export function figures() { const a = performance.now(); f(); return { p99_ms: performance.now() - a }; }',
  };
  const wrong = [
    'const a = performance.now(); f(); t.ok(performance.now() - a < 5);',
    'const a = Date.now(); const took = () => Date.now() - a; t.equal(Math.round(took()), 5);',
    'const all = []; all.push(performance.now()); t.ok(Math.max(...all) < 5);',
    'let a; a = process.hrtime.bigint(); if (a > 5n) t.fail();',
    'const { begun } = { begun: Date.now() }; while (Date.now() < begun + 5);',
    "import { figures } from './fixture/x.js'; const { p99_ms } = figures(); t.ok(p99_ms < 5);",
    'const at = performance.now(); const seconds = (performance.now() - at) / 1000; t.ok(taken <= 5 * seconds);',
  ];
  for (const text of wrong) t.equal(faults([fixture, { file: 'test/a.test.ts', text }]).length > 0, true, text);
  const right = [
    'const a = performance.now(); f(); t.comment(performance.now() - a);',
    'const id = uuidv7({ msecs: Date.now() - 5 }); t.equal(id, other);',
    'const all = []; all.push(performance.now()); t.equal(all.length, 1);',
    'const expires = new Date(Date.now() + 5).toISOString(); t.equal(row.expires_at, expires);',
    "import { figures } from './fixture/x.js'; const { count } = figures(); t.ok(count > 5);",
  ];
  for (const text of right) t.same(faults([fixture, { file: 'test/a.test.ts', text }]), [], text);
});
