import fc from 'fast-check';

/** What no careful client sends: the raw material of the fuzz tests. */

/** Text that databases, regular expressions and JSON writers trip over. */
const nasty = fc.constantFrom(
  '\u0000',
  'a\u0000b',
  '\ud800',
  '\udfff\ud800',
  '\ufeff',
  '\u2028',
  '\u202e',
  '__proto__',
  'constructor',
  'toString',
  '',
  ' ',
  '\r\n',
  '%00',
  '../../etc/passwd',
  "'; drop table operation; --",
  '{{7*7}}',
  '$1',
  '\\',
  'sim-fail-internal_error',
  'sim-delay-1',
  'sim-unknown',
  'urn:uuid:01900000-0000-7000-8000-000000000000',
  '01900000-0000-7000-8000-000000000000',
  '2016-12-31T23:59:60Z',
  '0000-00-00T00:00:00Z',
  'https://social.test/\u0000',
  'https://[::ffff:127.0.0.1]/',
);
export const text = fc.oneof(
  { weight: 3, arbitrary: fc.string({ unit: 'grapheme', maxLength: 40 }) },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
  { weight: 3, arbitrary: nasty },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 6000 }).map((length) => '😀'.repeat(length)) },
);

/** A JSON text, not a value: some of these have no value that JavaScript could write. */
const number = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.bigInt({ min: -(2n ** 80n), max: 2n ** 80n }).map(String),
  fc.constantFrom('1e400', '-1e400', '1e-400', '-0', '9007199254740993', '1E+2', '0.1e1', '1e308', '5e-324'),
);
const scalar = fc.oneof(
  fc.constantFrom('null', 'true', 'false', '[]', '{}'),
  number,
  text.map((value) => JSON.stringify(value)),
);
/** Deeper than any stack: `[[[…]]]`. */
const deep = fc
  .tuple(fc.constantFrom('[', '{"a":'), fc.constantFrom(2, 33, 200, 5000, 20_000))
  .map(([open, depth]) => `${open.repeat(depth)}1${(open === '[' ? ']' : '}').repeat(depth)}`);
export const anyJson: fc.Arbitrary<string> = fc.oneof(
  { depthSize: 'small' },
  { weight: 6, arbitrary: scalar },
  { weight: 1, arbitrary: deep },
  {
    weight: 2,
    arbitrary: fc.array(fc.tuple(text, scalar), { maxLength: 5 }).map((entries) => jsonObject(entries)),
  },
  { weight: 1, arbitrary: fc.array(scalar, { maxLength: 30 }).map((items) => `[${items.join()}]`) },
);

/** An object from entries whose values are JSON texts already; keys may stand twice. */
export function jsonObject(entries: readonly (readonly [key: string, json: string])[]): string {
  return `{${entries.map(([key, json]) => `${JSON.stringify(key)}:${json}`).join()}}`;
}

/** The object with some fields replaced, dropped, doubled or added. */
export function mutated(value: Record<string, unknown>): fc.Arbitrary<string> {
  const keys = Object.keys(value);
  const change = fc.oneof(
    fc.record({ kind: fc.constant('replace' as const), key: fc.constantFrom(...keys, 'surprise'), json: anyJson }),
    fc.record({ kind: fc.constant('drop' as const), key: fc.constantFrom(...keys, 'surprise'), json: fc.constant('') }),
    fc.record({ kind: fc.constant('add' as const), key: fc.oneof(text, fc.constantFrom(...keys, 'x')), json: anyJson }),
  );
  return fc.array(change, { minLength: 1, maxLength: 3 }).map((changes) => {
    let entries = keys.map((key) => [key, JSON.stringify(value[key])] as [string, string]);
    for (const { kind, key, json } of changes) {
      if (kind !== 'add') entries = entries.filter(([other]) => other !== key);
      if (kind !== 'drop') entries.push([key, json]);
    }
    return jsonObject(entries);
  });
}

/** Bytes of a body: JSON of all kinds, JSON cut short, no JSON, no UTF-8, a great deal. */
export function bodies(valid: Record<string, unknown>): fc.Arbitrary<Buffer> {
  return fc.oneof(
    { weight: 12, arbitrary: mutated(valid).map((json) => Buffer.from(json)) },
    { weight: 2, arbitrary: anyJson.map((json) => Buffer.from(json)) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(mutated(valid), fc.nat(50))
        .map(([json, cut]) => Buffer.from(json.slice(0, Math.max(0, json.length - 1 - cut)))),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(mutated(valid), fc.uint8Array({ minLength: 1, maxLength: 4 }))
        .map(([json, bytes]) => Buffer.concat([Buffer.from(json.slice(0, -1)), Buffer.from(bytes), Buffer.from('}')])),
    },
    { weight: 1, arbitrary: fc.constantFrom(60_000, 70_000, 3_000_000).map((size) => Buffer.alloc(size, '[')) },
  );
}

/** Header values as a socket could carry them: no line ends and no NUL, but any other byte. */
export const headerValue = fc.oneof(
  fc.constantFrom('', ' ', 'wait=30', 'wait=-1', 'wait=99999999999', 'dry-run', ';;,,==', 'application/json', '\u00ff'),
  fc.uint8Array({ maxLength: 300 }).map((bytes) =>
    [...bytes]
      .filter((byte) => byte >= 0x20 && byte !== 0x7f)
      .map((byte) => String.fromCharCode(byte))
      .join(''),
  ),
  fc.constantFrom(128, 129, 4000).map((length) => 'k'.repeat(length)),
);

/** A query as it stands in the request line. */
export const query = fc.oneof(
  fc.constantFrom(
    'offset=0&offset=1',
    'offset=-1',
    'offset=1e3',
    'offset=%00',
    'status=%00',
    'status=failed%00',
    'cursor=%FF',
    'cursor=AAAA',
    'limit=100000000000',
    'connection_id=urn:uuid:01900000-0000-7000-8000-000000000000',
    'connection_id={01900000-0000-7000-8000-000000000000}',
    'connection_id=01900000000070008000000000000000',
    '__proto__=1',
    '%',
    '&&&',
    '=',
  ),
  fc
    .array(fc.tuple(fc.constantFrom('offset', 'status', 'cursor', 'limit', 'connection_id', 'x'), text), {
      maxLength: 3,
    })
    .map((pairs) =>
      pairs.map(([key, value]) => `${key}=${encodeURIComponent(value.toWellFormed()).slice(0, 1000)}`).join('&'),
    ),
);
