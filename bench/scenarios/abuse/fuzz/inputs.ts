import fc from 'fast-check';
import { type Edit, written } from './json.js';
import type { Planted } from './messages.js';
import type { Target } from './targets.js';

/** Whose key a request carries. */
export type Caller = 'full' | 'narrow' | 'wrong' | 'garbled' | 'none';
/** Whose resource a path names. */
export type Whose = 'own' | 'others' | 'nobodys' | 'crafted';

/** One crafted request, before the ids of this run are put into it: the same seed gives the same ones. */
export interface Crafted {
  target: Target;
  method: string;
  whose: Whose;
  /** Picks among the ids. */
  pick: number;
  /** In the place of an id, where `whose` says so. */
  craftedId: string;
  query: string;
  caller: Caller;
  headers: Record<string, string>;
  body: Buffer | undefined;
}

/** Texts that parsers, databases, regular expressions and logs are known to trip over. */
const TROUBLE = [
  ...[
    '\u0000',
    'x\u0000',
    '\ud83d',
    '\udc00\ud800',
    '\u2029',
    '\u200f',
    '\u0085',
    '\uffff',
    '__proto__',
    'valueOf',
    '  ',
    '\n',
  ],
  ...['..%2f..%2f', '%', "' or 1=1 --", '%{#a.b}', '{{constructor}}', '\\u0000', 'sim-unknown', 'sim-rate-limited'],
  ...['sim-challenge-sms', 'sim-fail-parsing_error', 'sim-skip-self_target', '99999999-9999-7999-8999-999999999999'],
  ...[
    '2026-02-30T25:61:61Z',
    'https://127.0.0.1:1/',
    'https://user:pass@social.test/',
    'file:///etc/passwd',
    'aaaaaaaaaaaaaaaaaaaaaaaa!',
  ],
];

const text = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...TROUBLE) },
  { weight: 3, arbitrary: fc.string({ unit: 'grapheme', maxLength: 60 }) },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 60 }) },
  { weight: 1, arbitrary: fc.nat(9_000).map((length) => 'ÿ'.repeat(length)) },
);

const NUMBERS = [
  '0',
  '-1',
  '1e999',
  '-0.0',
  '18446744073709551616',
  '1e-999',
  '2147483648',
  '0.30000000000000004',
  '1E2',
];

/** JSON texts, and a few that are none. */
const json = fc.oneof(
  { weight: 6, arbitrary: text.map((value) => JSON.stringify(value)) },
  { weight: 3, arbitrary: fc.constantFrom(...NUMBERS) },
  { weight: 2, arbitrary: fc.constantFrom('null', 'true', 'false', '{}', '[]', '[[]]', 'NaN', '01', "'x'", '') },
  { weight: 2, arbitrary: fc.jsonValue({ maxDepth: 4 }).map((value) => JSON.stringify(value)) },
  { weight: 1, arbitrary: fc.nat(3_000).map((depth) => '['.repeat(depth) + ']'.repeat(depth)) },
  {
    weight: 1,
    arbitrary: fc.nat(2_000).map((many) => JSON.stringify(Array.from({ length: many }, (_, n) => ({ n })))),
  },
);

const edit: fc.Arbitrary<Edit> = fc.record({
  place: fc.nat(400),
  kind: fc.constantFrom('replace', 'replace', 'replace', 'drop', 'twice'),
  json,
});

/** Names of fields in which a planted word is put, for `hidden` and for `sealed`. */
const HIDDEN = new Set(['password', 'code']);
const SEALED = new Set(['secret', 'body', 'message', 'keywords']);

/** A body with the planted words in the fields that are to be kept secret. */
function planted(value: unknown, words: Planted): unknown {
  if (Array.isArray(value)) return value.map((item) => planted(item, words));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, item]) => {
    if (typeof item === 'string' && HIDDEN.has(key)) return [key, words.hidden];
    if (typeof item === 'string' && SEALED.has(key)) return [key, words.sealed];
    return [key, planted(item, words)];
  });
  return Object.fromEntries(entries);
}

function bodyOf({ bodies }: Target, words: Planted): fc.Arbitrary<Buffer | undefined> {
  if (bodies.length === 0)
    return fc.oneof({ weight: 9, arbitrary: fc.constant(undefined) }, fc.constant(Buffer.from('{}')));
  const whole = fc.constantFrom(...bodies).map((value) => planted(value, words));
  const edited = fc.tuple(whole, edit).map(([value, one]) => written(value, one));
  return fc.oneof(
    { weight: 2, arbitrary: whole.map((value) => Buffer.from(JSON.stringify(value))) },
    { weight: 9, arbitrary: edited.map((body) => Buffer.from(body)) },
    { weight: 1, arbitrary: fc.tuple(edited, fc.nat(80)).map(([body, cut]) => Buffer.from(body.slice(0, -1 - cut))) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)) },
    { weight: 1, arbitrary: fc.constantFrom(65_536, 66_000, 2_100_000).map((size) => Buffer.alloc(size, '{"a":')) },
  );
}

/** A value as a header can carry it. */
const headerText = text.map((value) => value.replaceAll(/[^\x20-\x7e\x80-\xff]/g, '').slice(0, 2_000));
const PREFER = ['wait=1', 'wait=-1', 'wait=99999999999', 'dry-run', 'respond-async', 'wait="1"; a, dry-run', ',;='];
const header = fc.oneof(
  fc.tuple(fc.constant('prefer'), fc.constantFrom(...PREFER)),
  fc.tuple(
    fc.constantFrom('prefer', 'idempotency-key', 'x-request-id', 'user-agent', 'accept', 'cookie', 'origin'),
    headerText,
  ),
  fc.tuple(
    fc.constant('content-type'),
    fc.constantFrom('text/plain', 'application/json; charset=utf-16', 'multipart/form-data', ''),
  ),
  fc.tuple(fc.constant('content-encoding'), fc.constantFrom('gzip', 'br', 'identity')),
);

function queryOf({ queries }: Target): fc.Arbitrary<string> {
  const name = fc.constantFrom(...queries, 'limit', 'offset', 'cursor', 'status', '__proto__', '');
  const value = fc.oneof(text, fc.constantFrom('0', '-1', '100001', '1e3', 'failed', 'AAAA', '%00', '%ff'));
  const pair = fc
    .tuple(name, value)
    .map(([key, given]) => `${key}=${encodeURIComponent(given.toWellFormed()).slice(0, 900)}`);
  return fc.oneof(
    { weight: 3, arbitrary: fc.constant('') },
    fc.array(pair, { maxLength: 3 }).map((pairs) => pairs.join('&')),
  );
}

/** Crafted requests to any of the targets. */
export function crafted(targets: readonly Target[], words: Planted): fc.Arbitrary<Crafted> {
  const callers: [Caller, number][] = [
    ['full', 12],
    ['narrow', 2],
    ['wrong', 1],
    ['garbled', 1],
    ['none', 1],
  ];
  const anybodys: [Whose, number][] = [
    ['own', 6],
    ['others', 4],
    ['nobodys', 1],
    ['crafted', 2],
  ];
  const weighted = <T>(all: [T, number][]) =>
    fc.oneof(...all.map(([one, weight]) => ({ weight, arbitrary: fc.constant(one) })));
  const others = ['HEAD', 'PUT', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY', 'GET', 'POST', 'PATCH', 'DELETE'];
  // The more there is to send to a route, the more often.
  const shares = targets.flatMap((target) => Array.from({ length: 2 + target.bodies.length }, () => target));
  return fc.constantFrom(...shares).chain((target) =>
    fc.record({
      target: fc.constant(target),
      method: fc.oneof({ weight: 15, arbitrary: fc.constant(target.method) }, fc.constantFrom(...others)),
      whose: weighted(anybodys),
      pick: fc.nat(1_000),
      craftedId: text,
      query: queryOf(target),
      caller: weighted(callers),
      headers: fc.array(header, { maxLength: 3 }).map((pairs) => Object.fromEntries(pairs)),
      body: bodyOf(target, words),
    }),
  );
}
