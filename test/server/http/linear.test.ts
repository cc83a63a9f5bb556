import t from 'tap';
import { capabilities } from '../../../actors/capabilities/catalogue.js';
import { validateInput } from '../../../actors/capabilities/validation.js';
import { errorAnswer } from '../../../server/http/answer.js';
import { check } from '../../../server/http/fields.js';
import type { Route } from '../../../server/http/route.js';
import { routes } from '../../../server/table.js';

/*
 * No validator takes more than linear time, whatever a body holds: each field of every input gets what grows, and is measured. What
 * takes the square of its length takes minutes at the larger size, and is found at the smaller one.
 */

const SMALL = 10_000;
const LARGE = 100_000;
/** Of one validation, with room for a busy machine; the longest was 0.1 s. */
const LIMIT_ms = 1_500;

/** Texts that regular expressions go back and forth on: what fits, and then does not. */
const TEXTS = ['a', ' ', '0', '-', '.', '=', '%41', 'a.', ';a=b', 'a;"', '😀', '\\', ' a'].flatMap((unit) =>
  ['', '\n', '!', '\u0001'].map((end) => (size: number) => unit.repeat(size / unit.length) + end),
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

/** The longest of the validations of inputs that have something large in one field, as long as they stay within the limit. */
function longest(
  fields: Iterable<string>,
  base: object,
  validate: (input: object) => void,
): { ms: number; of: string } {
  let most = { ms: 0, of: '' };
  for (const size of [SMALL, LARGE]) {
    for (const field of fields) {
      for (const [number, make] of VALUES.entries()) {
        const value = make(size);
        for (const [place, put] of PLACES.entries()) {
          const input = { ...base, [field]: put(value, field) };
          const startedAt = performance.now();
          validate(input);
          const ms = performance.now() - startedAt;
          if (ms > most.ms) most = { ms, of: `${field}, value ${number} at place ${place}, size ${size}` };
          if (ms > LIMIT_ms) return most;
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
    const { ms, of } = longest(fields, capability.example.input, (input) => void validateInput(capability, input));
    t.ok(ms < LIMIT_ms, `${capability.name}: ${ms.toFixed(0)} ms (${of})`);
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
    const { ms, of } = longest([...namesIn(body.schema), 'unknown'], {}, validate);
    t.ok(ms < LIMIT_ms, `${route.method} ${route.path}: ${ms.toFixed(0)} ms (${of})`);
    t.ok(largest < 64 * 1024, `${route.method} ${route.path}: ${largest} bytes`);
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
    const fields = Object.fromEntries(Array.from({ length: 130_000 }, (_, n) => [`field${n}`, n]));
    const found = validateInput(capability, { ...fields, ...capability.example.input });
    t.ok(found.length > 0 && found.length <= 110, `${capability.name}: ${found.length} findings`);
    const entries = Object.fromEntries(Object.keys(capability.example.input).map((name) => [name, [fields, fields]]));
    const each = Object.keys(entries).length;
    t.ok(validateInput(capability, { ...capability.example.input, ...entries }).length <= 250 * each, capability.name);
  }
});
