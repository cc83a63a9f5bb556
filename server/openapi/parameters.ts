import typia from 'typia';
import type { Uuid } from '../http/fields.js';
import type { Route } from '../http/route.js';
import { REQUEST_ID, requestHeaders } from './headers.js';
import { Components, nameOf, type Schema } from './schema.js';

const ID = new Components().take(typia.json.schemas<[Uuid]>(), { closed: false, dropHeads: false });

/** The parameters of paths, by the name in braces. */
const PATH_PARAMETERS: Record<string, { description: string; schema: Schema }> = {
  connection_id: { description: 'A connection of the workspace.', schema: ID },
  operation_id: { description: 'An operation of the workspace.', schema: ID },
  subscription_id: { description: 'A subscription of the workspace.', schema: ID },
  event_id: { description: 'An event of the workspace.', schema: ID },
  delivery_id: { description: 'A delivery of the workspace.', schema: ID },
  account_id: { description: 'A connection id, or the username of an account.', schema: { type: 'string' } },
  file: { description: 'A file of the reference page.', schema: { type: 'string' } },
};

/** Path, query and header parameters of a route. */
export function parametersOf(route: Route, components: Components): object[] {
  return [
    ...pathParameters(route.path),
    ...queryParameters(route, components),
    ...requestHeaders(route.headers),
    { $ref: '#/components/parameters/X-Request-Id' },
  ];
}

/** Parameters that every route takes, for `components.parameters`. */
export const SHARED_PARAMETERS = { 'X-Request-Id': REQUEST_ID };

function pathParameters(path: string): object[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => {
    const parameter = PATH_PARAMETERS[name];
    if (!parameter) throw new Error(`no path parameter is called ${name}`);
    return { name, in: 'path', required: true, ...parameter };
  });
}

/** The fields of the query's type, each a parameter; the type itself needs no name in the document. */
function queryParameters(route: Route, components: Components): object[] {
  if (!route.query) return [];
  const { schemas, components: named } = route.query.schema;
  const source = (named.schemas ?? {}) as Record<string, Schema>;
  const query = source[nameOf((schemas as Schema[])[0]?.$ref ?? '')];
  return Object.entries(query?.properties ?? {}).map(([name, property]) => {
    const { description, ...schema } = components.read(property, source, { closed: true, dropHeads: false });
    return { name, in: 'query', ...(description && { description }), schema };
  });
}
