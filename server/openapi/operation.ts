import { capabilities } from '../../actors/capabilities/catalogue.js';
import type { DeclaredAnswer } from '../http/declared.js';
import type { Route } from '../http/route.js';
import { eventCallback } from './callback.js';
import { errorResponses } from './errors.js';
import { ANSWERS } from './examples/answers.js';
import { answerHeaders } from './headers.js';
import { parametersOf } from './parameters.js';
import type { Components, Schema } from './schema.js';
import { securityOf } from './security.js';
import { tagOf } from './tags.js';

/** An operation object of the document, as far as this folder reads it. */
export interface OperationObject {
  [field: string]: unknown;
  requestBody?: {
    required: boolean;
    description: string;
    content: Record<string, { schema: Schema; examples?: object }>;
  };
}

/** One route. `responses` collects the answers that several share. */
export function operationObject(
  route: Route,
  hosted: boolean,
  components: Components,
  responses: Record<string, object>,
): OperationObject {
  const { operationId, summary, path } = route;
  return {
    operationId,
    summary,
    description: `${route.description}${scopesNeeded(route)}`,
    tags: [tagOf(path)],
    ...securityOf(route, hosted),
    parameters: parametersOf(route, components),
    ...bodyOf(route, components),
    responses: { ...errorResponses(route, components, responses), ...answersOf(route, components) },
    ...(operationId === 'createSubscription' && { callbacks: { event: eventCallback(components) } }),
  };
}

function bodyOf({ method, body }: Route, components: Components): Pick<OperationObject, 'requestBody'> {
  if (body.kind === 'json') {
    const schema = components.take(body.schema, { closed: true });
    const description = `A JSON object of at most ${body.limit_bytes} bytes.`;
    return { requestBody: { required: true, description, content: { 'application/json': { schema } } } };
  }
  if (body.kind !== 'none' || method !== 'POST') return {};
  return { requestBody: { required: false, description: 'None, or an empty object.', content: EMPTY } };
}

/** What a route without an input takes for a body (HTTP-7). */
const EMPTY = {
  'application/json': { schema: { type: 'object', maxProperties: 0 }, examples: { none: { value: {} } } },
};

const code = (names: readonly string[]) => names.map((name) => `\`${name}\``).join(', ');

const SENDS = ` ${code(capabilities.filter(({ send }) => send).map(({ name }) => name))} need \`social:send\` as well.`;

function scopesNeeded({ scopes, bodyScopes }: Route): string {
  if (scopes === 'none') return '';
  if (scopes.length === 0) return '\n\nAny key will do.';
  return `\n\nNeeds ${scopes.length > 1 ? 'the scopes' : 'the scope'} ${code(scopes)}.${bodyScopes ? SENDS : ''}`;
}

function answersOf({ operationId, answers }: Route, components: Components): object {
  const content = (status: string, { schema, contentType }: DeclaredAnswer) => {
    if (!schema) return contentType && { [contentType]: { schema: { type: 'string' } } };
    const examples = ANSWERS[operationId]?.[Number(status)];
    return {
      'application/json': { schema: components.take(schema, { closed: false }), ...(examples && { examples }) },
    };
  };
  const written = Object.entries(answers).map(([status, answer]) => {
    const { description, headers } = answer;
    const body = content(status, answer);
    return [status, { description, headers: answerHeaders(headers), ...(body && { content: body }) }];
  });
  return Object.fromEntries(written);
}
