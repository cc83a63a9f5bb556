/**
 * What the site calls the fields of `T`, which programs know by the service's names. A text names a field. A pair names a
 * field and what is in it: the names of its objects' fields or, where it takes one of a few words, the site's word for each.
 */
export type Names<T> = { [Field in keyof T]-?: Name<NonNullable<T[Field]>> };

type Name<Value> = [Value] extends [readonly (infer Item)[]]
  ? Name<NonNullable<Item>>
  : [Value] extends [string]
    ? AnyText<Value> extends true
      ? string
      : [name: string, words: Record<Value, string>]
    : [Value] extends [string | number | boolean]
      ? string
      : string extends keyof Value
        ? string
        : [name: string, fields: Names<Value>];

/** False for a union of words, whose record must have each of them. */
type AnyText<Value extends string> = Record<never, never> extends Record<Value, 1> ? true : false;

/** Any names, as the two translations walk through them. */
export interface AnyNames {
  readonly [field: string]: string | readonly [name: string, inside: AnyNames] | undefined;
}

/**
 * What the site said, under the service's names; whether it holds what it should is its reader's to check. Fields without a
 * name are left out, and a word that the site does not have is undefined.
 */
export function fromSite(said: unknown, names: AnyNames): unknown {
  if (Array.isArray(said)) return said.map((one) => fromSite(one, names));
  if (typeof said === 'string') return Object.keys(names).find((word) => names[word] === said);
  if (typeof said !== 'object' || said === null) return said;
  const own = new Map<string, unknown>(Object.entries(said));
  return Object.fromEntries(
    Object.entries(names).map(([field, naming]) => {
      const [name, inside] = parts(naming);
      const value = own.get(name);
      return [field, inside ? fromSite(value, inside) : value];
    }),
  );
}

/** What the service has to say, as the site calls it. What is undefined or has no name is left out. */
export function toSite(value: object, names: AnyNames): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(value).flatMap(([field, one]) => {
      const [name, inside] = parts(names[field]);
      return name === '' || one === undefined ? [] : [[name, inside ? inWords(one, inside) : one]];
    }),
  );
}

function inWords(value: unknown, names: AnyNames): unknown {
  if (Array.isArray(value)) return value.map((one) => inWords(one, names));
  if (typeof value === 'string') return names[value];
  return typeof value === 'object' && value !== null ? toSite(value, names) : value;
}

function parts(naming: AnyNames[string] = ''): readonly [name: string, inside?: AnyNames] {
  return typeof naming === 'string' ? [naming] : naming;
}
