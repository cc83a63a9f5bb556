import ts from 'typescript';
import type { Edit, Rule } from './fault.js';
import { sqlEdits } from './sql-edits.js';

const BOUNDS: Record<string, string> = { '<': '<=', '<=': '<', '>': '>=', '>=': '>' };
const SWAPS: Record<string, [Rule, string]> = {
  '===': ['condition negated', '!=='],
  '!==': ['condition negated', '==='],
  '&&': ['and for or', '||'],
  '||': ['and for or', '&&'],
  ...Object.fromEntries(Object.entries(BOUNDS).map(([from, to]) => [from, ['bound off by one', to]])),
};
/** What only tells people what happened: nothing else depends on it. */
const LOGS = /\b(?:log|console|logger)\b\??\.|\bsay\(/;
const RECORDS = /record|emit|event|tally|count|note|announce|notify|hint|audit/i;

/** Where a compiled file may go wrong, by each rule. */
export function codeEdits(text: string): Edit[] {
  const source = ts.createSourceFile('compiled.js', text, ts.ScriptTarget.Latest, true, ts.ScriptKind.JS);
  const edits: Edit[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || (ts.isExpressionStatement(node) && LOGS.test(node.getText()))) return;
    edits.push(...editsOf(node));
    ts.forEachChild(node, visit);
  };
  visit(source);
  return edits;
}

function* editsOf(node: ts.Node): Generator<Edit> {
  if (ts.isIfStatement(node)) yield negated(node.expression);
  else if (ts.isConditionalExpression(node)) yield negated(node.condition);
  else if (ts.isBinaryExpression(node)) yield* ofBinary(node);
  else if (ts.isExpressionStatement(node)) yield* ofStatement(node);
  else if (ts.isThrowStatement(node)) yield dropped('refusal dropped', node);
  else if (ts.isReturnStatement(node)) yield* ofReturn(node);
  else if (isFlag(node))
    yield swapped('flag flipped', node, node.kind === ts.SyntaxKind.TrueKeyword ? 'false' : 'true');
  else if (ts.isTemplateExpression(node) || ts.isNoSubstitutionTemplateLiteral(node) || ts.isStringLiteral(node)) {
    yield* sqlEdits(node.getText().slice(1, -1), node.getStart() + 1);
  }
}

function* ofBinary(node: ts.BinaryExpression): Generator<Edit> {
  const { left, operatorToken: operator, right } = node;
  const [rule, by] = SWAPS[operator.getText()] ?? [];
  const whole = { shownFrom: node.getStart(), shownTo: node.getEnd(), mapped: node.getStart() };
  // A loop without end would be caught by the time limit alone.
  if (rule !== undefined && by !== undefined && !isLoopCondition(node)) {
    yield { ...swapped(rule, operator, by), ...whole };
  }
  const steps = operator.kind === ts.SyntaxKind.PlusToken || operator.kind === ts.SyntaxKind.MinusToken;
  if (steps && right.getText() === '1') {
    yield {
      ...edit('bound off by one', left.getEnd(), right.getEnd(), ''),
      ...whole,
    };
  }
}

function* ofStatement(node: ts.ExpressionStatement): Generator<Edit> {
  const { expression } = node;
  if (ts.isAwaitExpression(expression)) {
    yield swapped('await dropped', node, node.getText().replace(/^await\s+/, ''));
  }
  const call = ts.isAwaitExpression(expression) || ts.isVoidExpression(expression) ? expression.expression : expression;
  if (ts.isCallExpression(call) && call.expression.kind !== ts.SyntaxKind.SuperKeyword) {
    yield dropped(RECORDS.test(call.expression.getText()) ? 'event not recorded' : 'call dropped', node);
  }
  if (ts.isBinaryExpression(expression) && /^(?:[-+]|\?\?)?=$/.test(expression.operatorToken.getText())) {
    if (!isInConstructor(node)) yield dropped('assignment dropped', node);
  }
}

function* ofReturn(node: ts.ReturnStatement): Generator<Edit> {
  const { parent } = node;
  const guarded = ts.isIfStatement(parent) || (ts.isBlock(parent) && ts.isIfStatement(parent.parent));
  if (guarded) yield dropped('early return dropped', node);
}

/** A flag that is returned, or a field of a record. */
function isFlag({ kind, parent }: ts.Node): boolean {
  if (kind !== ts.SyntaxKind.TrueKeyword && kind !== ts.SyntaxKind.FalseKeyword) return false;
  return ts.isReturnStatement(parent) || ts.isPropertyAssignment(parent);
}

const isLoopCondition = ({ parent }: ts.Node) =>
  ts.isWhileStatement(parent) || ts.isForStatement(parent) || ts.isDoStatement(parent);

/** What is set there is needed by everything: nobody would miss it in silence. */
const isInConstructor = ({ parent }: ts.Node) => ts.isBlock(parent) && ts.isConstructorDeclaration(parent.parent);

const edit = (rule: Rule, from: number, to: number, by: string): Edit => ({
  ...{ rule, from, to, by, shownFrom: from, shownTo: to, mapped: from },
});
const swapped = (rule: Rule, node: ts.Node, by: string) => edit(rule, node.getStart(), node.getEnd(), by);
const dropped = (rule: Rule, node: ts.Node) => swapped(rule, node, ';');
const negated = (node: ts.Expression) => swapped('condition negated', node, `!(${node.getText()})`);
