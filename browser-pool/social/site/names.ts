/**
 * What the site calls the fields of `T`, which programs know by the service's names. A text names a field. A pair names a
 * field and what is in it: the names of its objects' fields or, where it takes one of a few words, the site's word for each.
 */
export type Names<T> = { [Field in keyof T]-?: Name<Exclude<NonNullable<T[Field]>, Unfamiliar>> };

type Name<Value> = [Value] extends [readonly (infer Item)[]]
  ? Name<Exclude<NonNullable<Item>, Unfamiliar>>
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

/** What stands for an object of the site in which nothing has a name, and for a word that is none of its words. */
export type Unfamiliar = false;

/**
 * What the site said, under the service's names; whether it holds what it should is its reader's to check. Fields without a
 * name are left out, one that the site leaves out is null, and what is unfamiliar is `Unfamiliar`: no reader takes it for an empty answer.
 */
export function fromSite(said: unknown, names: AnyNames): unknown {
  if (Array.isArray(said)) return said.map((one) => fromSite(one, names));
  if (typeof said === 'string') return Object.keys(names).find((word) => names[word] === said) ?? UNFAMILIAR;
  if (typeof said !== 'object' || said === null) return said;
  const own = new Map<string, unknown>(Object.entries(said));
  const named = Object.entries(names).map(([field, naming]) => [field, ...parts(naming)] as const);
  if (!named.some(([, name]) => own.has(name))) return UNFAMILIAR;
  return Object.fromEntries(
    named.map(([field, name, inside]) => {
      const value = own.get(name) ?? null;
      return [field, inside ? fromSite(value, inside) : value];
    }),
  );
}

const UNFAMILIAR: Unfamiliar = false;

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
