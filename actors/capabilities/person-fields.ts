/*
 * Which values name people, by the types of the contract: those that `x-names-person` marks (browser-pool/contract/fields.ts).
 */

/** A collection of typia's, as far as it is read here. */
interface Collection {
  schemas: readonly object[];
  components: { schemas?: Record<string, object> };
}

/** A JSON Schema as far as it is read here. */
interface Schema {
  $ref?: string;
  oneOf?: Schema[];
  items?: Schema | object;
  properties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
  'x-names-person'?: true;
}

/** Gives what of a value names people, each once. */
export type NamesIn = (value: unknown) => string[];

/** Tells each of them. */
type Finder = (value: unknown, found: (name: string) => void) => void;

const NONE: NamesIn = () => [];

/** Of values of one type of a collection: for capabilities, 0 is the input and 1 the result. */
export function namesIn({ schemas, components }: Collection, index = 0): NamesIn {
  const find = finderOf((schemas[index] ?? {}) as Schema, (components.schemas ?? {}) as Record<string, Schema>);
  if (find === null) return NONE;
  return (value) => {
    const names = new Set<string>();
    find(value, (name) => names.add(name));
    return [...names];
  };
}

/** Null where nothing of the type names people. No type of the contract holds itself. */
function finderOf(schema: Schema, components: Record<string, Schema>): Finder | null {
  const { $ref, oneOf = [], items, properties = {}, additionalProperties } = schema;
  const of = (one: Schema | undefined) => (one ? finderOf(one, components) : null);
  const parts: (Finder | null)[] = oneOf.map(of);
  if (schema['x-names-person']) parts.push((value, found) => typeof value === 'string' && found(value));
  if ($ref !== undefined) parts.push(of(components[$ref.slice($ref.lastIndexOf('/') + 1)]));
  const item = of(items as Schema | undefined);
  if (item) parts.push((value, found) => Array.isArray(value) && value.forEach((one) => void item(one, found)));
  for (const [name, property] of Object.entries(properties)) {
    const find = of(property);
    if (find) parts.push((value, found) => isRecord(value) && find(value[name], found));
  }
  if (typeof additionalProperties === 'object') parts.push(recordFinder(of(additionalProperties)));
  const finders = parts.filter((part) => part !== null);
  if (finders.length === 0) return null;
  return (value, found) => {
    for (const find of finders) find(value, found);
  };
}

/** Of a record with such values: where a text among them names a person, its key does too. */
function recordFinder(find: Finder | null): Finder | null {
  if (find === null) return null;
  let keys = false;
  find('', () => {
    keys = true;
  });
  return (value, found) => {
    if (!isRecord(value)) return;
    for (const [key, one] of Object.entries(value)) {
      if (keys) found(key);
      find(one, found);
    }
  };
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
