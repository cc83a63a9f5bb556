import { isUtf8 } from 'node:buffer';
import { HttpError } from '../../storage/model/errors.js';
import { isPgSafeText } from '../../storage/postgres/pg-safe-values.js';
import { invalidField } from './answer.js';
import { LIMITS } from './limits.js';
import type { HttpExchange } from './wire/exchange.js';

export type JsonObject = Record<string, unknown>;

/**
 * The body of a request that has come whole: 413, or 503 when there is no memory for it, then 415 (HTTP-1, HTTP-4, HTTP-10). An empty
 * one gives undefined. Null when the client went away.
 */
export function readBody(exchange: HttpExchange): Buffer | undefined | null {
  const bytes = exchange.body();
  if (bytes === null) return null;
  if (typeof bytes === 'string') throw new HttpError(bytes);
  if (bytes.length === 0) return undefined;
  const type = exchange.headers['content-type'].split(';', 1)[0]!.trim().toLowerCase();
  const encoding = exchange.headers['content-encoding'].toLowerCase();
  if ((type !== '' && type !== 'application/json') || (encoding !== '' && encoding !== 'identity')) {
    throw new HttpError('unsupported_media_type');
  }
  return bytes;
}

/** The body as a JSON object; throws 400 `invalid_json` (HTTP-5). */
export function parseJson(bytes: Buffer): JsonObject {
  refuseCrowded(bytes);
  refuseDeep(bytes);
  if (!isUtf8(bytes)) throw new HttpError('invalid_json', 'the body is not UTF-8');
  const text = bytes.toString('utf8');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new HttpError('invalid_json');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new HttpError('invalid_json', 'the body is not a JSON object');
  }
  // PostgreSQL stores neither U+0000 nor half a surrogate pair. In UTF-8 only an escape can bring them.
  if (bytes.includes('\\u')) refuseUnstorable(value, 'body');
  if (mayBeRounded(text)) refuseRounded(text);
  return value as JsonObject;
}

/** A large body is long because of a long text. One of a hundred thousand values takes longer to parse and to refuse than all else. */
function refuseCrowded(bytes: Buffer): void {
  if (bytes.length <= LIMITS.body_bytes) return;
  let commas = 0;
  for (let at = bytes.indexOf(COMMA); at >= 0; at = bytes.indexOf(COMMA, at + 1)) {
    if (++commas > LIMITS.large_body_values) throw invalidField('body', `at most ${LIMITS.large_body_values} values`);
  }
}

const COMMA = ','.charCodeAt(0);

/** What is nested deeply has paths that are long, and is walked with the stack. Most bodies have fewer brackets than they may be deep. */
function refuseDeep(bytes: Buffer): void {
  if (brackets(bytes, OPENING) <= LIMITS.body_depth) return;
  let depth = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) at = endOfText(bytes, at);
    else if (byte === CLOSING[0] || byte === CLOSING[1]) depth--;
    else if (byte === OPENING[0] || byte === OPENING[1]) {
      if (++depth > LIMITS.body_depth) throw invalidField('body', `values nested at most ${LIMITS.body_depth} deep`);
    }
  }
}

const [OPENING, CLOSING] = ['{[', '}]'].map((pair) => [pair.charCodeAt(0), pair.charCodeAt(1)] as const) as [
  Pair,
  Pair,
];
const [QUOTE, BACKSLASH] = ['"'.charCodeAt(0), '\\'.charCodeAt(0)];

type Pair = readonly [number, number];

/** How many there are, in texts as well; counted no further than one too many. */
function brackets(bytes: Buffer, pair: Pair): number {
  let count = 0;
  for (const bracket of pair) {
    for (let at = bytes.indexOf(bracket); at >= 0 && count <= LIMITS.body_depth; at = bytes.indexOf(bracket, at + 1))
      count++;
  }
  return count;
}

/** The closing quote of the text that begins here, or the end. */
function endOfText(bytes: Buffer, start: number): number {
  for (let at = bytes.indexOf(QUOTE, start + 1); at >= 0; at = bytes.indexOf(QUOTE, at + 1)) {
    let escapes = 0;
    while (bytes[at - 1 - escapes] === BACKSLASH) escapes++;
    if (escapes % 2 === 0) return at;
  }
  return bytes.length;
}

function refuseUnstorable(root: object, rootPath: string): void {
  for (const { value, path, key, within } of places(root, rootPath)) {
    if (!isPgSafeText(key)) throw invalidField(within, 'keys without U+0000 and half surrogate pairs');
    if (typeof value === 'string' && !isPgSafeText(value)) {
      throw invalidField(path, 'text without U+0000 and half surrogate pairs');
    }
  }
}

interface Place {
  value: unknown;
  path: string;
  /** The key that it stands under, and the path of what has that. */
  key: string;
  within: string;
}

/** This value, and every value in it. */
function* places(root: object, rootPath: string): Generator<Place> {
  const pending: Place[] = [{ value: root, path: rootPath, key: '', within: rootPath }];
  for (let item = pending.pop(); item; item = pending.pop()) {
    yield item;
    const { value, path } = item;
    if (typeof value !== 'object' || value === null) continue;
    const step = (key: string) => (Array.isArray(value) ? `${path}[${key}]` : `${path}.${key}`);
    for (const [key, child] of Object.entries(value))
      pending.push({ value: child, path: step(key), key, within: path });
  }
}

/** Up to fifteen digits, and exponents of up to two, a double has as they were sent. No such thing stands in base64, which is most of a large body. */
const mayBeRounded = (text: string): boolean => /[:,[\s]-?(?:[\d.]{16}|[\d.]+[eE][+-]?\d{3})/.test(text);

/** What stands for a number that a double cannot hold. */
const ROUNDED = Symbol('rounded');

/** Refuses numbers that would be others when they are handed on or compared (HTTP-32): a text holds any. */
function refuseRounded(text: string): void {
  const reviver: Reviver = (_key, value, context) => {
    const rounded =
      typeof value === 'number' && context?.source !== undefined && decimal(context.source) !== decimal(String(value));
    return rounded ? ROUNDED : value;
  };
  const revived = JSON.parse(text, reviver) as object;
  for (const { value, path } of places(revived, 'body')) {
    if (value === ROUNDED) throw invalidField(path, 'a number that a double holds, or a text');
  }
}

type Reviver = (key: string, value: unknown, context?: { source?: string }) => unknown;

/** A number as JSON or JavaScript writes it, in one way: its digits without zeros around them, and its power of ten. */
function decimal(number: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?$/.exec(number) ?? [];
  const digits = (whole + fraction).replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return number.includes('Infinity') ? number : '0';
  const power = Number(exponent) - fraction.length + digits.length - significant.length;
  return `${sign}${significant}e${power}`;
}

/** For a route whose input is "none": an empty body or `{}` (HTTP-7). */
export function expectNoBody(body: JsonObject | undefined): void {
  const [key] = Object.keys(body ?? {});
  if (key !== undefined) throw invalidField(`body.${key}`, 'no such field');
}
