import { capabilities } from '../../actors/capabilities/catalogue.js';
import { HTTP_ERRORS, OPERATION_ERRORS } from '../../storage/model/errors.js';
import { SCOPES } from '../../storage/model/records.js';
import type { Route } from '../http/route.js';
import { eventCallback } from './callback.js';
import { describeCapabilities } from './capabilities.js';
import { errorResponses, pascal } from './errors.js';
import { EXAMPLES } from './examples.js';
import { ANSWER_HEADERS, answerHeaders } from './headers.js';
import { parametersOf, SHARED_PARAMETERS } from './parameters.js';
import { Components, nameOf, type Schema } from './schema.js';

/**
 * The reference as an OpenAPI 3.1 document (HTTP-20), made from the table of routes that serves requests, the types
 * that validate them and the codes that refuse them.
 */
export function buildDocument(routes: readonly Route[]): Record<string, unknown> {
  const components = new Components();
  const responses: Record<string, object> = {};
  const paths: Record<string, Record<string, Operation>> = {};
  for (const route of routes) {
    const operation = operationOf(route, components, responses);
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operation };
  }
  describeCapabilities(components);
  for (const [name, examples] of Object.entries(EXAMPLES)) {
    const schema = components.schemas[name];
    if (!schema) throw new Error(`an example of ${name}, which no route uses`);
    schema.examples = examples;
  }
  for (const operation of Object.values(paths).flatMap(Object.values<Operation>)) {
    offerVariants(components.schemas, operation);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Connection, Operation and Event API',
      version: 'v1',
      description: introduction(),
    },
    servers: [{ url: './' }],
    tags: [...new Set(routes.map((route) => tagOf(route.path)))].map((name) => ({ name })),
    paths,
    components: {
      schemas: components.schemas,
      responses,
      parameters: SHARED_PARAMETERS,
      headers: ANSWER_HEADERS,
      securitySchemes: SECURITY_SCHEMES,
    },
  };
}

/** An operation object of the document, as far as this file looks into it. */
interface Operation {
  requestBody?: { content: Record<string, { schema: Schema; examples?: object }> };
  callbacks?: object;
}

function operationOf(route: Route, components: Components, responses: Record<string, object>): Operation {
  const { method, path, summary, scopes, body } = route;
  const operation = {
    operationId: operationId(method, path),
    summary,
    tags: [tagOf(path)],
    ...(scopes !== 'none' && { description: `Scopes: ${code(scopes)}.${route.bodyScopes ? SENDS : ''}` }),
    security: securityOf(scopes),
    parameters: parametersOf(route, components),
    ...(body.kind === 'json' && {
      requestBody: {
        required: true,
        description: `At most ${body.limit_bytes} bytes.`,
        content: { 'application/json': { schema: components.take(body.schema, { closed: true, dropHeads: false }) } },
      },
    }),
    responses: { ...errorResponses(route, components, responses), ...answersOf(route, components) },
  };
  const subscribes = method === 'POST' && path.endsWith('/subscriptions');
  return subscribes ? { ...operation, callbacks: { event: eventCallback(components) } } : operation;
}

const code = (names: readonly string[]) => names.map((name) => `\`${name}\``).join(', ');

const SENDS = ` \`social:send\` as well for ${code(capabilities.filter(({ send }) => send).map(({ name }) => name))}.`;

function answersOf(route: Route, components: Components): object {
  const answers = Object.entries(route.answers).map(([status, answer]) => {
    const { description, schema, contentType, headers } = answer;
    const content = schema
      ? { 'application/json': { schema: components.take(schema, { closed: false, dropHeads: false }) } }
      : contentType && { [contentType]: { schema: { type: 'string' } } };
    return [status, { description, headers: answerHeaders(headers), ...(content && { content }) }];
  });
  return Object.fromEntries(answers);
}

/** `GET /v1/connections/{connection_id}/events` as `getConnectionEvents`: unique, as paths and methods are. */
function operationId(method: string, path: string): string {
  const segments = path.split('/').filter((segment) => segment !== '' && segment !== 'v1');
  const words = segments.map((segment) => pascal(segment.replace(/^\{(\w+)\}$/, 'by_$1').replaceAll(/\W/g, '_')));
  return `${method.toLowerCase()}${words.join('')}`;
}

const TAGS: Readonly<Record<string, string>> = {
  connections: 'Connections',
  operations: 'Operations',
  accounts: 'Compatibility',
  subscriptions: 'Subscriptions',
  listener: 'Events',
  events: 'Events',
  'simulated-events': 'Events',
  deliveries: 'Deliveries',
  docs: 'Reference',
  'openapi.json': 'Reference',
};

/** The last thing that the path names. */
function tagOf(path: string): string {
  const named = path
    .split('/')
    .reverse()
    .map((segment) => TAGS[segment])
    .find((tag) => tag !== undefined);
  return named ?? 'Service';
}

const SECURITY_SCHEMES = {
  workspaceKey: {
    type: 'http',
    scheme: 'bearer',
    description: `A workspace key. Its scopes are among ${code(SCOPES)}.`,
  },
  gatewayClientId: { type: 'apiKey', in: 'header', name: 'Gateway-Access-Client-Id', description: 'When hosted.' },
  gatewayClientSecret: {
    type: 'apiKey',
    in: 'header',
    name: 'Gateway-Access-Client-Secret',
    description: 'When hosted, together with a named `User-Agent`.',
  },
};

/** With the gateway's headers when hosted, without them otherwise (HTTP-11). */
function securityOf(scopes: Route['scopes']): object[] {
  const key = scopes === 'none' ? {} : { workspaceKey: [...scopes] };
  return [key, { ...key, gatewayClientId: [], gatewayClientSecret: [] }];
}

/** The variants of a body, each by name, so that a reader can pick one. */
function offerVariants(schemas: Record<string, Schema>, { requestBody }: Operation): void {
  const content = requestBody?.content['application/json'];
  const { $ref } = content?.schema ?? {};
  const variants = ($ref && schemas[nameOf($ref)]?.oneOf) || [];
  const examples = variants.flatMap((variant) => {
    const name = nameOf(variant.$ref ?? '');
    const { title = name, examples: [value] = [] } = schemas[name] ?? {};
    return value === undefined ? [] : [[String(title), { value }] as const];
  });
  if (content && examples.length > 0) content.examples = Object.fromEntries(examples);
}

function introduction(): string {
  const refusals = Object.entries(HTTP_ERRORS).map(
    ([name, { status, message, retryable }]) => `| ${status} | \`${name}\` | ${message} | ${yesOrNo(retryable)} |`,
  );
  const failures = Object.entries(OPERATION_ERRORS).map(
    ([name, { message, retryable }]) => `| \`${name}\` | ${message} | ${yesOrNo(retryable)} |`,
  );
  return [
    'Manages connections to professional-network accounts, runs durable asynchronous operations against them and pushes signed events.',
    'Submit an operation, read it until its status is terminal (`Prefer: wait=30` saves asking again), and look at `error_code` and `result`. Every submission carries an `Idempotency-Key`: sent again after a lost answer it gives the first operation, never a second one.',
    'Refusals carry `{code, message, errors?}`, a 409 `{code}` alone. Whether the same request can succeed later:',
    ['| status | code | meaning | later |', '|---|---|---|---|', ...refusals].join('\n'),
    'A `failed` operation has one of these as its `error_code`. Whether submitting it again, under a new key, can help:',
    ['| error_code | meaning | again |', '|---|---|---|', ...failures].join('\n'),
  ].join('\n\n');
}

function yesOrNo(value: boolean): 'yes' | 'no' {
  return value ? 'yes' : 'no';
}
