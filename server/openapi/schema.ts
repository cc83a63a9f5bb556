import { isDeepStrictEqual } from 'node:util';
import type { SchemaOf } from '../http/declared.js';

/** A JSON Schema (2020-12) as far as this folder reads it. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  oneOf?: Schema[];
  allOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  discriminator?: Discriminator;
  description?: string;
  examples?: unknown[];
  [keyword: string]: unknown;
}

/** By which field the types of a union are told apart. */
interface Discriminator {
  propertyName: string;
  mapping?: Record<string, string>;
}

/** How a type's schema is rewritten. */
export interface Reading {
  /** A value the service takes: fields it does not know are refused (HTTP-6). */
  closed: boolean;
}

const PREFIX = '#/components/schemas/';

export const refTo = (name: string): { $ref: string } => ({ $ref: PREFIX + name });
export const nameOf = (ref: string): string => ref.slice(PREFIX.length);

/** The component that a schema refers to. */
export function componentOf(schemas: Record<string, Schema>, { $ref }: Schema): Schema | undefined {
  return $ref === undefined ? undefined : schemas[nameOf($ref)];
}

/** The name of a type in the document. */
const published = (ref: string): string => nameOf(ref).replace(/Json$/, '');

/**
 * Collects what typia makes of the service's types into one `components.schemas`.
 *
 * Named objects, unions and enumerations stay named, without the ending `Json` that only the source needs; plain texts,
 * numbers and records are written where they are used. Throws when two different types have one name.
 */
export class Components {
  readonly schemas: Record<string, Schema> = {};

  /** The schema of the collection's type; of several collections, of one of their types. */
  take(collection: SchemaOf<unknown> | readonly SchemaOf<unknown>[], reading: Reading): Schema {
    if (isSeveral(collection)) return { oneOf: collection.map((one) => this.take(one, reading)) };
    const [root] = collection.schemas as Schema[];
    if (!root) throw new Error('a collection without a type');
    return this.read(root, (collection.components.schemas ?? {}) as Record<string, Schema>, reading);
  }

  /** `schema` with its references resolved in `source`, which are collected. */
  read(schema: Schema, source: Record<string, Schema>, reading: Reading): Schema {
    const { $ref, ...rest } = schema;
    const described = this.#rewrite(rest, source, reading);
    if ($ref === undefined) return simplified(described);
    const target = source[nameOf($ref)];
    if (!target) throw new Error(`no component ${$ref}`);
    if (isPlain(target)) return { ...this.read(target, source, reading), ...described };
    const name = published($ref);
    this.#collect(name, target, source, reading);
    return { ...refTo(name), ...described };
  }

  #collect(name: string, target: Schema, source: Record<string, Schema>, reading: Reading): void {
    const known = this.#reading.get(name);
    // Only an object is written differently for a request and for an answer.
    const alike = known && (known.closed === reading.closed || target.type !== 'object');
    if (known && !(alike && isDeepStrictEqual(known.target, target)))
      throw new Error(`two different types are called ${name}`);
    if (known) return;
    this.#reading.set(name, { target, closed: reading.closed });
    // Before what it refers to: a type may refer to itself.
    this.schemas[name] = {};
    this.schemas[name] = this.read(target, source, reading);
  }

  readonly #reading = new Map<string, { target: Schema; closed: boolean }>();

  #rewrite(schema: Schema, source: Record<string, Schema>, reading: Reading): Schema {
    const one = (inner: Schema) => this.read(inner, source, reading);
    // A mark for erasures (STO-7): strict readers of the document refuse what they do not know.
    const { description, required, 'x-names-person': _, ...kept } = schema;
    const written: Schema = { ...kept };
    const text = description && readable(description);
    if (text) written.description = text;
    if (required?.length) written.required = required;
    if (schema.oneOf) written.oneOf = schema.oneOf.map(one);
    if (schema.discriminator) written.discriminator = renamed(schema.discriminator);
    if (schema.items) written.items = one(schema.items);
    if (typeof schema.additionalProperties === 'object')
      written.additionalProperties = one(schema.additionalProperties);
    if (schema.properties) {
      const properties = Object.entries(schema.properties);
      if (properties.length > 0 || schema.additionalProperties === undefined) {
        written.properties = Object.fromEntries(properties.map(([key, value]) => [key, one(value)]));
        if (reading.closed && schema.additionalProperties === undefined) written.additionalProperties = false;
      } else delete written.properties;
    }
    return written;
  }
}

/** True for a type that is not an object with fields of its own, a union or an enumeration. */
function isPlain(schema: Schema): boolean {
  if (schema.type === 'object') return schema.additionalProperties !== undefined;
  return schema.oneOf === undefined || !schema.oneOf.some((one) => one.$ref !== undefined || 'const' in one);
}

/** Constants with their type, several as one enumeration, and `null` beside a type as that type's second one. */
function simplified(schema: Schema): Schema {
  const { oneOf, ...rest } = schema;
  if ('const' in schema) return { type: typeof schema.const, ...schema };
  if (!oneOf) return schema;
  const constants = oneOf.filter((one) => 'const' in one);
  const others = oneOf.filter((one) => !('const' in one) && one.type !== 'null');
  const nullable = oneOf.some((one) => one.type === 'null');
  const [only, ...more] = others;
  if (constants.length > 1 && !only) {
    const values = constants.map((one) => one.const);
    return nullable
      ? { type: ['string', 'null'], enum: [...values, null], ...rest }
      : { type: typeof values[0], enum: values, ...rest };
  }
  if (nullable && only && more.length === 0 && constants.length === 0 && typeof only.type === 'string')
    return { ...only, type: [only.type, 'null'], ...(only.enum && { enum: [...only.enum, null] }), ...rest };
  return schema;
}

function isSeveral(
  collection: SchemaOf<unknown> | readonly SchemaOf<unknown>[],
): collection is readonly SchemaOf<unknown>[] {
  return Array.isArray(collection);
}

/** The mapping with the names that the components have in the document. */
function renamed({ propertyName, mapping = {} }: Discriminator): Discriminator {
  const entries = Object.entries(mapping).map(([value, ref]) => [value, refTo(published(ref)).$ref]);
  return { propertyName, mapping: Object.fromEntries(entries) };
}

/** A doc comment without its citations of the project's own pages. */
function readable(comment: string): string {
  if (comment.startsWith('Construct a type with a set of properties')) return '';
  return comment
    .replace(/^Contract: "[^"]*"\. */, '')
    .replace(/\s*\((?:contract:|(?:HTTP|CONN|OPS|EVT|SIM|COMPAT)-\d)[^)]*\)/g, '')
    .replaceAll('\n', ' ');
}
