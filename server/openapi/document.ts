import { setImmediate as turn } from 'node:timers/promises';
import { LIMITS } from '../http/limits.js';
import type { Route } from '../http/route.js';
import { CALLBACK_PARAMETERS, eventWebhooks } from './callback.js';
import { describeCapabilities } from './capabilities.js';
import { EXAMPLES } from './examples/components.js';
import { ANSWER_HEADERS } from './headers.js';
import { introduction } from './introduction.js';
import { type OperationObject, operationObject } from './operation.js';
import { SHARED_PARAMETERS } from './parameters.js';
import { Components, componentOf, type Schema } from './schema.js';
import { CONSOLE_SESSION, GATEWAY, WORKSPACE_KEY } from './security.js';
import { tagsOf } from './tags.js';

type Document = Record<string, unknown>;

/**
 * The reference as an OpenAPI 3.1 document (HTTP-20), made from the table of routes that serves requests, the types
 * that validate them and the codes that refuse them. `hosted`: every request carries the gateway's headers.
 */
export function buildDocument(routes: readonly Route[], hosted: boolean): Document {
  const steps = documentSteps(routes, hosted);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** The same for a thread that serves requests: others get their turns meanwhile. */
export async function buildDocumentInSlices(routes: readonly Route[], hosted: boolean): Promise<Document> {
  const steps = documentSteps(routes, hosted);
  for (let began = performance.now(); ; ) {
    const { done, value } = steps.next();
    if (done) return value;
    if (performance.now() - began < LIMITS.document_slice_ms) continue;
    await turn();
    began = performance.now();
  }
}

function* documentSteps(routes: readonly Route[], hosted: boolean): Generator<void, Document> {
  const components = new Components();
  const responses: Record<string, object> = {};
  const paths: Record<string, Record<string, OperationObject>> = {};
  for (const route of routes) {
    const operation = operationObject(route, hosted, components, responses);
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operation };
    yield;
  }
  describeCapabilities(components);
  yield;
  const webhooks = eventWebhooks(components);
  giveExamples(components.schemas);
  yield;
  for (const operation of Object.values(paths).flatMap(Object.values<OperationObject>)) {
    offerVariants(components.schemas, operation);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Connection, Operation and Event API',
      version: 'v1',
      summary: 'Connections to professional-network accounts, durable operations on them, signed events.',
      description: introduction(),
      contact: { name: 'The operator of this service' },
      license: { name: 'All rights reserved', identifier: 'LicenseRef-UNLICENSED' },
    },
    servers: [{ url: '.', description: 'Where this document was read.' }],
    tags: tagsOf(routes),
    paths,
    webhooks,
    components: {
      schemas: components.schemas,
      responses,
      parameters: { ...SHARED_PARAMETERS, ...CALLBACK_PARAMETERS },
      headers: ANSWER_HEADERS,
      securitySchemes: { ...WORKSPACE_KEY, ...CONSOLE_SESSION, ...(hosted && GATEWAY) },
    },
  };
}

/** Puts the examples into their components, behind those that are there. Throws for one of a component that no route uses. */
function giveExamples(schemas: Record<string, Schema>): void {
  for (const [name, examples] of Object.entries(EXAMPLES)) {
    const schema = schemas[name];
    if (!schema) throw new Error(`an example of ${name}, which no route uses`);
    schema.examples = [...(schema.examples ?? []), ...examples];
  }
}

/** The variants of a body, each by the value that tells them apart, so that a reader can pick one. */
function offerVariants(schemas: Record<string, Schema>, { requestBody }: OperationObject): void {
  const content = requestBody?.content['application/json'];
  const { mapping = {} } = (content && componentOf(schemas, content.schema)?.discriminator) ?? {};
  const examples = Object.entries(mapping).flatMap(([value, $ref]) => {
    const [example] = componentOf(schemas, { $ref })?.examples ?? [];
    return example === undefined ? [] : [[value, { value: example }] as const];
  });
  if (content && examples.length > 0) content.examples = Object.fromEntries(examples);
}
