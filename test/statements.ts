import { dirname, join, normalize } from 'node:path';
import ts from 'typescript';
import { parsed } from './syntax.js';

/** A statement that the sources run by its name. */
export interface NamedStatement {
  name: string;
  file: string;
  /** As far as it can be read without running it: what fragments, constants and functions add stands in it, values do not. */
  text: string;
}

interface Parsed {
  source: ts.SourceFile;
  /** By name: initializers of constants, and functions. */
  declared: Map<string, ts.Node>;
  imported: Map<string, { file: string; name: string }>;
}

/** What the parameters of a function are given. */
type Scope = Readonly<Record<string, string>>;

/** Every call of `query` whose first argument is a name: statements that are given without one are those of tools. */
export function namedStatements(files: readonly { file: string; text: string }[]): NamedStatement[] {
  const all = new Map(files.map(({ file, text }) => [file, parse(file, text)]));
  const reader = new Reader(all);
  return [...all].flatMap(([file, { source }]) => {
    const found: NamedStatement[] = [];
    const visit = (node: ts.Node): void => {
      if (ts.isCallExpression(node) && isQuery(node) && node.arguments[0] && node.arguments[1]) {
        const text = reader.text(node.arguments[1], file, {});
        for (const name of reader.names(node.arguments[0], file)) {
          if (!/\s/.test(name)) found.push({ name, file, text });
        }
      }
      ts.forEachChild(node, visit);
    };
    visit(source);
    return found;
  });
}

const isQuery = ({ expression }: ts.CallExpression) =>
  ts.isPropertyAccessExpression(expression) && expression.name.text === 'query';

function parse(file: string, text: string): Parsed {
  const source = parsed({ file, text });
  const declared = new Map<string, ts.Node>();
  const imported = new Map<string, { file: string; name: string }>();
  const visit = (node: ts.Node): void => {
    if (
      ts.isVariableDeclaration(node) &&
      ts.isIdentifier(node.name) &&
      node.initializer &&
      !declared.has(node.name.text)
    )
      declared.set(node.name.text, node.initializer);
    if (ts.isFunctionDeclaration(node) && node.name) declared.set(node.name.text, node);
    if (ts.isImportDeclaration(node)) {
      const from = (node.moduleSpecifier as ts.StringLiteral).text;
      const bindings = node.importClause?.namedBindings;
      if (!from.startsWith('.') || !bindings || !ts.isNamedImports(bindings)) return;
      const target = normalize(join(dirname(file), from)).replace(/\.js$/, '.ts');
      for (const { name, propertyName } of bindings.elements)
        imported.set(name.text, { file: target, name: (propertyName ?? name).text });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return { source, declared, imported };
}

/** Puts the text of a statement together. What cannot be read, values among it, is left out; of a choice every side stands there. */
class Reader {
  readonly #files: ReadonlyMap<string, Parsed>;

  constructor(files: ReadonlyMap<string, Parsed>) {
    this.#files = files;
  }

  /** `*` stands for a part that is not written down. */
  names(node: ts.Expression, file: string): string[] {
    if (ts.isStringLiteralLike(node)) return [node.text];
    if (ts.isConditionalExpression(node)) return [node.whenTrue, node.whenFalse].flatMap((n) => this.names(n, file));
    if (ts.isTemplateExpression(node)) {
      const [only] = node.templateSpans;
      if (node.templateSpans.length === 1 && only && !node.head.text && !only.literal.text)
        return this.names(only.expression, file);
      return [node.head.text + node.templateSpans.map(({ literal }) => `*${literal.text}`).join('')];
    }
    return ts.isIdentifier(node) ? listed(node) : [];
  }

  text(node: ts.Node, file: string, scope: Scope, depth = 0): string {
    const read = (one: ts.Node | undefined) => (one ? this.text(one, file, scope, depth + 1) : '');
    if (depth > 12) return '';
    if (ts.isStringLiteralLike(node) || ts.isNumericLiteral(node)) return node.text;
    if (ts.isTemplateExpression(node))
      return node.head.text + node.templateSpans.map((span) => read(span.expression) + span.literal.text).join('');
    if (ts.isConditionalExpression(node)) return `${read(node.whenTrue)} ${read(node.whenFalse)}`;
    if (ts.isBinaryExpression(node)) return read(node.left) + read(node.right);
    if (ts.isParenthesizedExpression(node) || ts.isAsExpression(node)) return read(node.expression);
    if (ts.isIdentifier(node)) return scope[node.text] ?? this.#constant(node.text, file, depth);
    if (ts.isElementAccessExpression(node) && ts.isIdentifier(node.expression))
      return this.#constant(node.expression.text, file, depth);
    return ts.isCallExpression(node) && ts.isIdentifier(node.expression) ? this.#called(node, file, scope, depth) : '';
  }

  #declared(name: string, file: string): { node: ts.Node; file: string } | undefined {
    const parsed = this.#files.get(file);
    const node = parsed?.declared.get(name);
    if (node) return { node, file };
    const from = parsed?.imported.get(name);
    return from && this.#declared(from.name, from.file);
  }

  #constant(name: string, file: string, depth: number): string {
    const found = this.#declared(name, file);
    if (!found || isFunction(found.node)) return '';
    const { node } = found;
    if (!ts.isObjectLiteralExpression(node)) return this.text(node, found.file, {}, depth + 1);
    const values = node.properties.filter(ts.isPropertyAssignment).map(({ initializer }) => initializer);
    return values.map((value) => this.text(value, found.file, {}, depth + 1)).join(' ');
  }

  #called(call: ts.CallExpression, file: string, scope: Scope, depth: number): string {
    const found = this.#declared((call.expression as ts.Identifier).text, file);
    if (!found || !isFunction(found.node)) return '';
    const { node: called, file: at } = found;
    const inner: Record<string, string> = {};
    const give = (name: ts.BindingName, value: ts.Node | undefined, unless: ts.Expression | undefined) => {
      if (!ts.isIdentifier(name)) return;
      inner[name.text] = value
        ? this.text(value, file, scope, depth + 1)
        : unless
          ? this.text(unless, at, {}, depth + 1)
          : '';
    };
    for (const [i, { name, initializer }] of called.parameters.entries()) {
      const given = call.arguments[i];
      give(name, given, initializer);
      if (!ts.isObjectBindingPattern(name)) continue;
      for (const element of name.elements) {
        const key = (element.propertyName ?? element.name).getText();
        const property =
          given && ts.isObjectLiteralExpression(given)
            ? given.properties.find((p) => p.name?.getText() === key)
            : undefined;
        give(
          element.name,
          property && (ts.isPropertyAssignment(property) ? property.initializer : property.name),
          element.initializer,
        );
      }
    }
    return this.#returned(called, at, inner, depth);
  }

  #returned({ body }: FunctionNode, file: string, scope: Record<string, string>, depth: number): string {
    if (!body) return '';
    if (!ts.isBlock(body)) return this.text(body, file, scope, depth + 1);
    let returned = '';
    const visit = (node: ts.Node): void => {
      if (ts.isReturnStatement(node) && node.expression) returned += this.text(node.expression, file, scope, depth + 1);
      else if (ts.isVariableDeclaration(node) && ts.isIdentifier(node.name) && node.initializer)
        scope[node.name.text] = this.text(node.initializer, file, scope, depth + 1);
      else ts.forEachChild(node, visit);
    };
    visit(body);
    return returned;
  }
}

type FunctionNode = ts.FunctionDeclaration | ts.ArrowFunction;
const isFunction = (node: ts.Node): node is FunctionNode => ts.isFunctionDeclaration(node) || ts.isArrowFunction(node);

/** The values of a name that a loop takes from arrays that are written down: `for (const [name, …] of [['a', …], ['b', …]])`. */
function listed(name: ts.Identifier): string[] {
  for (let node: ts.Node = name; node; node = node.parent) {
    if (!ts.isForOfStatement(node) || !ts.isVariableDeclarationList(node.initializer)) continue;
    const pattern = node.initializer.declarations[0]?.name;
    if (!pattern || !ts.isArrayBindingPattern(pattern) || !ts.isArrayLiteralExpression(node.expression)) continue;
    const place = pattern.elements.findIndex((element) => element.getText() === name.text);
    return node.expression.elements.flatMap((row) => {
      const value = ts.isArrayLiteralExpression(row) ? row.elements[place] : undefined;
      return value && ts.isStringLiteralLike(value) ? [value.text] : [];
    });
  }
  return [];
}
