import type { Edit, Rule } from './fault.js';

/** Words of a condition without which a statement writes what is no longer its own. */
const FENCE = /epoch|fence|lease|revision|status|node_id|deleted_at|cancel_through/;
/** What ends a condition that `and` began. */
const CONDITION_END =
  /\b(?:and|or|returning|order by|group by|limit|union|on conflict|then|else|end|for (?:no key )?update|for (?:key )?share)\b|;|--/y;

/** Where a statement may go wrong: the literal's text without its quotes, and where that begins in the file. */
export function* sqlEdits(literal: string, at: number): Generator<Edit> {
  const text = withoutSubstitutions(literal);
  if (!isSql(text)) return;
  for (const [rule, pattern, by] of WORDS) {
    for (const match of text.matchAll(pattern))
      yield edit(rule, match.index, match.index + match[0].length, by(match[0]));
  }
  for (const { index } of text.matchAll(/\band\s/g)) {
    const end = conditionEnd(text, index + 4);
    const condition = literal.slice(index, end).trimEnd();
    if (isComment(text, index) || isBetween(text, index) || bindsAlone(literal, condition)) continue;
    const rule = FENCE.test(condition) ? 'write without its fence' : 'SQL condition dropped';
    yield edit(rule, index, index + condition.length, '');
  }

  function edit(rule: Rule, from: number, to: number, by: string): Edit {
    const shownFrom = text.lastIndexOf('\n', from) + 1;
    const lineEnd = text.indexOf('\n', to);
    const shownTo = lineEnd < 0 ? text.length : lineEnd;
    return { rule, by, from: at + from, to: at + to, shownFrom: at + shownFrom, shownTo: at + shownTo, mapped: at - 1 };
  }
}

const WORDS: [rule: Rule, pattern: RegExp, by: (found: string) => string][] = [
  ['bound off by one', /(?<=\s)[<>]=?(?=\s)/g, (found) => (found.length === 2 ? found.slice(0, 1) : `${found}=`)],
  ['SQL condition negated', /\bis (?:not )?null\b/g, (found) => (found.includes('not') ? 'is null' : 'is not null')],
  ['SQL condition negated', /(?:\bnot )?\bexists\b/g, (found) => (found.startsWith('not') ? 'exists' : 'not exists')],
  ['lock dropped', /\bfor (?:update|no key update|share|key share)(?: of \w+)?(?: skip locked| nowait)?/g, () => ''],
  ['order reversed', /\bdesc\b/g, () => ''],
];

/** Sentences for people have some of its words as well, and begin with a capital letter. */
const isSql = (text: string) =>
  !/^\s*[A-Z]/.test(text) &&
  (/\b(?:select|update|insert|delete|with)\b[\s\S]*\b(?:from|set|into|where|as)\b/.test(text) ||
    /^\s*(?:and|exists|not exists)\s/.test(text));

/** Substitutions hold code, which is no SQL: blanks in their place, so that everything stands where it stood. */
function withoutSubstitutions(literal: string): string {
  let depth = 0;
  let text = '';
  for (let i = 0; i < literal.length; i++) {
    const opens = literal.startsWith('${', i) || (depth > 0 && literal[i] === '{');
    if (opens) depth++;
    text += depth > 0 && literal[i] !== '\n' ? '_' : literal[i];
    if (depth > 0 && literal[i] === '}') depth--;
  }
  return text;
}

function conditionEnd(text: string, from: number): number {
  let depth = 0;
  for (let i = from; i < text.length; i++) {
    if (text[i] === '(') depth++;
    if (text[i] === ')' && depth-- === 0) return i;
    CONDITION_END.lastIndex = i;
    if (depth === 0 && i > from && CONDITION_END.test(text)) return i;
  }
  return text.length;
}

const isComment = (text: string, at: number) => /--[^\n]*$/.test(text.slice(0, at));
const isBetween = (text: string, at: number) => /\bbetween\s+\S+\s+$/.test(text.slice(0, at));

/** A parameter that nothing else names has no type: the database would refuse the statement, whatever is tested. */
function bindsAlone(literal: string, condition: string): boolean {
  const rest = literal.replace(condition, '');
  const names = (text: string) => new Set(text.match(/\$\d+\b|\$\{/g) ?? []);
  return [...names(condition)].some((name) => !names(rest).has(name) && name !== '${');
}
