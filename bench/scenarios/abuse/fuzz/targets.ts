import { request } from 'undici';

/** A route, and what a careful client would send there. */
export interface Target {
  method: string;
  /** With the names of its parameters in braces. */
  path: string;
  /** Names of its query. */
  queries: string[];
  /** Bodies that it takes; none where it takes no body. */
  bodies: unknown[];
}

interface Schema {
  $ref?: string;
  examples?: unknown[];
  oneOf?: Schema[];
  anyOf?: Schema[];
}

interface Described {
  parameters?: { $ref?: string; in?: string; name?: string }[];
  requestBody?: { content: Record<string, { schema: Schema; examples?: Record<string, { value: unknown }> }> };
}

interface Reference {
  paths: Record<string, Record<string, Described>>;
  components: { schemas: Record<string, Schema>; parameters: Record<string, { in: string; name: string }> };
}

/** Every route that the service describes, with its own examples: one that is added is tried without being named here. */
export async function readTargets(url: string): Promise<Target[]> {
  const { body } = await request(`${url}/openapi.json`);
  const { paths, components } = (await body.json()) as Reference;
  const named = (ref: string) => ref.split('/').at(-1) ?? '';
  const examplesOf = (schema: Schema): unknown[] => {
    const meant = schema.$ref ? (components.schemas[named(schema.$ref)] ?? {}) : schema;
    return [...(meant.examples ?? []), ...[...(meant.oneOf ?? []), ...(meant.anyOf ?? [])].flatMap(examplesOf)];
  };
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { parameters = [], requestBody }]) => {
      const content = requestBody?.content['application/json'];
      const known = parameters.map((one) => (one.$ref ? components.parameters[named(one.$ref)] : one));
      const queries = known.flatMap((one) => (one?.in === 'query' && one.name !== undefined ? [one.name] : []));
      const shown = Object.values(content?.examples ?? {}).map(({ value }) => value);
      const bodies = content ? [...shown, ...examplesOf(content.schema), {}] : [];
      return { method: method.toUpperCase(), path, queries, bodies };
    }),
  );
}
