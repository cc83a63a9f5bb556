import t from 'tap';
import { capabilities } from '../../../actors/capabilities/catalogue.js';
import { validateInput } from '../../../actors/capabilities/validation.js';
import { errorAnswer } from '../../../server/http/answer.js';
import { parseJson } from '../../../server/http/body.js';
import { check } from '../../../server/http/fields.js';
import type { Route } from '../../../server/http/route.js';
import { routes } from '../../../server/table.js';
import { onceOf_us, processor_us, squared_us } from '../../fixture/measures.js';
import { sized } from '../../fixture/size.js';

/*
 * No validator takes more than linear time, whatever a body holds: each field of every input gets what grows, and is measured, in processor
 * time against a loop that does take the square of its length. At length a larger size shows what only begins at the smaller one.
 */

const SMALL = 20_000;
const LARGE = 100_000;
const SQUARE_us = squared_us(SMALL);
/** A quarter of what the square of the smaller size takes, and of the larger one in proportion: a twentieth of its square. */
const limit_us = (size: number) => (SQUARE_us / 4) * (size / SMALL);

/** Texts that regular expressions go back and forth on: what fits, and then does not. */
const TEXTS = ['a', ' ', '0', '-', '.', '=', '%41', 'a.', ';a=b', 'a;"', '😀', '\\', ' a'].flatMap((unit) =>
  sized(['', '!'], ['', '\n', '!', '\u0001']).map((end) => (size: number) => unit.repeat(size / unit.length) + end),
);
const PREFIXED = ['https://', 'urn:social:conversation:(', 'a/b', 'application/json;a="'].map(
  (head) => (size: number) => head + 'a'.repeat(size),
);
const items = (size: number, item: (number: number) => unknown) => Array.from({ length: size / 10 }, (_, n) => item(n));
const LISTS = [
  (n: number) => ({ a: n }),
  (n: number) => `${n}`,
  (n: number) => n,
  () => null,
  () => [],
  (n: number) => ({ name: `${n}`, [`k${n}`]: n }),
].map((item) => (size: number) => items(size, item));
const OBJECT = (size: number) => Object.fromEntries(items(size, (n) => [`key${n}`, n]) as [string, number][]);
const VALUES = [...TEXTS, ...PREFIXED, ...LISTS, OBJECT];

/** Where the value stands in a field: itself, as an entry, in an entry, in an object. */
const PLACES: ((value: unknown, field: string) => unknown)[] = [
  (value) => value,
  (value) => [value],
  (value) => [{ name: value }],
  (value, field) => ({ [field]: value, min: value }),
];

/** Every name of a field in a schema. */
function namesIn(schema: unknown, names = new Set<string>()): Set<string> {
  if (typeof schema !== 'object' || schema === null) return names;
  for (const [key, value] of Object.entries(schema)) {
    if (key === 'properties') for (const name of Object.keys(value)) names.add(name);
    namesIn(value, names);
  }
  return names;
}

/** The longest of the validations of inputs that have something large in one field, as a share of the limit; none after one beyond it. */
function longest(
  fields: Iterable<string>,
  base: object,
  validate: (input: object) => void,
): { share: number; of: string } {
  let most = { share: 0, of: '' };
  for (const size of sized([SMALL], [SMALL, LARGE])) {
    for (const field of fields) {
      for (const [number, make] of VALUES.entries()) {
        const value = make(size);
        for (const [place, put] of PLACES.slice(0, sized(2, PLACES.length)).entries()) {
          const input = { ...base, [field]: put(value, field) };
          const share = onceOf_us(() => validate(input)) / limit_us(size);
          if (share <= most.share) continue;
          // Once more, for what a collection of memory or a compilation took.
          const again = share > 1 ? processor_us(() => validate(input)) / limit_us(size) : share;
          if (again > most.share)
            most = { share: again, of: `${field}, value ${number} at place ${place}, size ${size}` };
          if (again > 1) return most;
        }
      }
    }
  }
  return most;
}

const size = (error: unknown) => Buffer.byteLength(String(errorAnswer(error, 'plain', 'id').body));

t.test('inputs of capabilities are checked in linear time', async (t) => {
  for (const capability of capabilities) {
    const fields = [...namesIn(capability.schemas.components?.schemas), 'unknown'];
    const { share, of } = longest(fields, capability.example.input, (input) => void validateInput(capability, input));
    t.ok(share < 1, `${capability.name}: ${share.toFixed(2)} of the limit (${of})`);
  }
});

t.test('bodies of routes are checked in linear time, and what is said of them stays small', async (t) => {
  const withBody = routes.flatMap((route: Route) => (route.body.kind === 'json' ? [{ route, body: route.body }] : []));
  for (const { route, body } of withBody) {
    let largest = 0;
    const validate = (input: object) => {
      try {
        check(body.validate, input, 'body');
      } catch (error) {
        largest = Math.max(largest, size(error));
      }
    };
    const { share, of } = longest([...namesIn(body.schema), 'unknown'], {}, validate);
    t.ok(share < 1, `${route.method} ${route.path}: ${share.toFixed(2)} of the limit (${of})`);
    t.ok(largest < 64 * 1024, `${route.method} ${route.path}: ${largest} bytes`);
  }
});

/** Bodies that are deep, or look it, with what has every value of them looked at. */
const DEEP: ((size: number) => string)[] = ['[', '{"a":', '[{"a":', '"', '"\\\\'].flatMap((unit) => [
  (size) => unit.repeat(size / unit.length),
  (size) => `{"a":"\\u0000","b":${unit.repeat(size / unit.length)}`,
  (size) => {
    const closing = [...unit]
      .map((one) => ({ '[': ']', '{': '}' })[one] ?? '')
      .toReversed()
      .join('');
    const times = size / (unit.length + closing.length);
    return `{"a":1234567890123456789,"b":${unit.repeat(times)}${closing === '' ? '' : '"\\u0000"'}${closing.repeat(times)}}`;
  },
]);

t.test('bodies are parsed in linear time however deep they are, and what is said of them stays small', async (t) => {
  for (const [number, make] of DEEP.entries()) {
    let largest = 0;
    const body = Buffer.from(make(LARGE));
    const parse = () => {
      try {
        parseJson(body);
      } catch (error) {
        largest = size(error);
      }
    };
    const share = Math.min(onceOf_us(parse), processor_us(parse)) / limit_us(LARGE);
    t.ok(share < 1, `${number}: ${share.toFixed(2)} of the limit`);
    t.ok(largest > 0 && largest < 4 * 1024, `${number}: ${largest} bytes`);
  }
});

interface Schema {
  $ref?: string;
  type?: string;
  maxItems?: number;
  items?: Schema;
  properties?: Record<string, Schema>;
  oneOf?: Schema[];
  enum?: unknown[];
}

/** The longest list that a schema lets through, but for lists of a closed set of values. */
function longestList(schema: Schema, components: Record<string, Schema>): number {
  const { $ref, type, maxItems, items, properties = {}, oneOf = [] } = schema;
  const own = type === 'array' && !items?.enum && !items?.oneOf ? (maxItems ?? Number.POSITIVE_INFINITY) : 0;
  const parts = [...Object.values(properties), ...oneOf, ...(items ? [items] : [])];
  const referred = $ref ? components[$ref.split('/').at(-1) ?? ''] : undefined;
  return Math.max(own, ...[...parts, ...(referred ? [referred] : [])].map((part) => longestList(part, components)));
}

t.test('of what is too long only the beginning is examined, and nothing that may be so long is refused', async (t) => {
  for (const capability of capabilities) {
    const { schemas, components } = capability.schemas as {
      schemas: Schema[];
      components: { schemas: Record<string, Schema> };
    };
    // A rule beside its type bounds the lists of the recruiter's search.
    const byRule = capability.name === 'social.recruiter.people.search';
    t.ok(byRule || longestList(schemas[0] as Schema, components.schemas) <= 100, capability.name);
    const fields = Object.fromEntries(Array.from({ length: sized(10_000, 130_000) }, (_, n) => [`field${n}`, n]));
    const found = validateInput(capability, { ...fields, ...capability.example.input });
    t.ok(found.length > 0 && found.length <= 110, `${capability.name}: ${found.length} findings`);
    const entries = Object.fromEntries(Object.keys(capability.example.input).map((name) => [name, [fields, fields]]));
    const each = Object.keys(entries).length;
    t.ok(validateInput(capability, { ...capability.example.input, ...entries }).length <= 250 * each, capability.name);
  }
});
