import typia from 'typia';
import type { Uuid } from '../http/fields.js';
import type { Route } from '../http/route.js';
import { cursorOf, placeCursor } from '../routes/paging.js';
import {
  AT,
  CONNECTION,
  DELIVERY,
  EVENT,
  IDEMPOTENCY_KEY,
  KEY,
  OPERATION,
  REFERENCE,
  SUBSCRIPTION,
  TOMORROW,
  USERNAME,
  WORKSPACE,
} from './examples/values.js';
import { REQUEST_ID, requestHeaders } from './headers.js';
import { parameterExample } from './parameter-example.js';
import { Components, componentOf, nameOf, type Schema } from './schema.js';

/** What an id in a path is of says its parameter. */
const { description: _, ...ID } = new Components().take(typia.json.schemas<[Uuid]>(), { closed: false });

interface Described {
  description: string;
  schema: Schema;
  example: string;
}

/** The parameters of paths, by the name in braces. */
const PATH_PARAMETERS: Record<string, Described> = {
  connection_id: { description: 'Id of a connection of the workspace.', schema: ID, example: CONNECTION },
  operation_id: { description: 'Id of an operation of the workspace.', schema: ID, example: OPERATION },
  subscription_id: { description: 'Id of a subscription of the workspace.', schema: ID, example: SUBSCRIPTION },
  event_id: { description: 'Id of an event of the workspace.', schema: ID, example: EVENT },
  delivery_id: { description: 'Id of a delivery of the workspace.', schema: ID, example: DELIVERY },
  key_id: { description: 'Id of a key of any workspace.', schema: ID, example: KEY },
  account_id: {
    description: 'Id of a connection, or the username of an account.',
    schema: { type: 'string' },
    example: USERNAME,
  },
  file: { description: 'Name of a file of the reference page.', schema: { type: 'string' }, example: 'start.js' },
};

/** Values of queries, by the name of the parameter; `status` has those of its type. */
const QUERY_EXAMPLES: Record<string, string | number> = {
  connection_id: CONNECTION,
  limit: 50,
  search: 'ada',
  idempotency_key: IDEMPOTENCY_KEY,
  created_after: AT,
  created_before: TOMORROW,
  reference: REFERENCE,
  ids: CONNECTION,
  offset: 100,
  actor: KEY,
  target: CONNECTION,
  workspace: WORKSPACE,
  since: AT,
  until: TOMORROW,
};

/** A cursor as the list's own pages have it: operations by their ids, all else by the time of creation as well. */
function cursorFor({ operationId }: Route): string {
  return operationId === 'listOperations'
    ? cursorOf(OPERATION)
    : placeCursor({ created_us: CREATED_us, id: CONNECTION });
}

const CREATED_us = Date.parse(AT) * 1000;

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
    const { description, ...schema } = components.read(property, source, { closed: true });
    const example =
      (name === 'cursor' ? cursorFor(route) : QUERY_EXAMPLES[name]) ??
      (componentOf(components.schemas, schema) ?? schema).enum?.at(-1);
    return { name, in: 'query', description, schema, ...parameterExample(example, false) };
  });
}
