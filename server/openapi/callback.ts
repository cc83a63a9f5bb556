import typia from 'typia';
import type { Verification } from '../../actors/deliveries/callback/callback-verifier.js';
import { callbackHeaders } from '../../actors/deliveries/callback/signature.js';
import { LIMITS } from '../../actors/deliveries/limits.js';
import { eventSchema } from '../routes/subscriptions/event-json.js';
import { AT, DELIVERY, EVENT, REFERENCE, SECRET } from './examples/values.js';
import { type Components, componentOf, nameOf, refTo, type Schema } from './schema.js';

/** Descriptions of a callback's headers; the code that sends them decides which there are. */
const MEANINGS: Record<string, string> = {
  'X-CS-Event-Id': 'The event: dedupe by it.',
  'X-CS-Delivery-Id': 'The delivery series; not the event.',
  'X-CS-Connection-Reference': 'Your own id of the connection, where it has one. No signature covers it.',
  'X-CS-Timestamp': 'Unix seconds of this attempt: refuse stale ones.',
  'X-CS-Signature':
    '`v1=` and the hexadecimal HMAC-SHA256, under the subscription’s secret, of timestamp, period and raw body; each earlier secret adds one, behind a comma, for a day after its rotation. Compare in constant time.',
  'webhook-id': 'Standard Webhooks: the event.',
  'webhook-timestamp': 'Standard Webhooks: Unix seconds of this attempt.',
  'webhook-signature':
    'Standard Webhooks: `v1,` and base64; the key is the secret’s UTF-8 bytes; one of each secret, with a space.',
};

const TRACE = {
  ...{ name: 'traceparent', in: 'header', required: false, schema: { type: 'string' } },
  description: 'W3C Trace Context: of the operation that caused the event, where its submission carried one.',
  example: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
};

/** Those headers as parameters, for `components.parameters`. */
export const CALLBACK_PARAMETERS: Readonly<Record<string, object>> = callbackParameters();

function callbackParameters(): Record<string, object> {
  const sent = callbackHeaders({
    eventId: EVENT,
    deliveryId: DELIVERY,
    reference: REFERENCE,
    body: Buffer.from('{}'),
    at: new Date(AT),
    secrets: [SECRET],
  });
  const described = Object.entries(sent).flatMap(([name, example]) => {
    const description = MEANINGS[name];
    const required = name !== 'X-CS-Connection-Reference';
    const parameter = { name, in: 'header', required, description, schema: { type: 'string' }, example };
    return description ? [[name, parameter] as const] : [];
  });
  return { ...Object.fromEntries(described), traceparent: TRACE };
}

const HOW = `Answer 2xx promptly. Anything else, a redirect or silence is tried again after ${LIMITS.retry_waits_s.join(', ')} seconds, up to ${LIMITS.retry_waits_s.length + 1} attempts in all. It may come twice, and in any order: dedupe by \`id\`.`;

/** What a receiver gets: `schema` is the body. */
function received(operationId: string, summary: string, description: string, schema: Schema, taken: object): object {
  return {
    operationId,
    summary,
    description,
    tags: ['Events'],
    security: [],
    parameters: Object.keys(CALLBACK_PARAMETERS).map((name) => ({ $ref: `#/components/parameters/${name}` })),
    requestBody: {
      required: true,
      description: 'The bytes that the signatures are over.',
      content: { 'application/json': { schema } },
    },
    responses: { '2XX': taken, '4XX': REFUSED },
  };
}

const REFUSED = { description: 'Not taken, as with any other status.' };
const TAKEN = { description: 'Taken; the body of the answer is ignored.' };

/** The request that a subscription's receiver gets, as a callback object (contract: "Events"). */
export function eventCallback(components: Components): object {
  const schema = components.take(eventSchema, { closed: false });
  return {
    '{$request.body#/callback_url}': {
      post: received('receiveEvent', 'An event, delivered at least once', HOW, schema, TAKEN),
    },
  };
}

const VERIFICATION = typia.json.schemas<[Verification]>();

/** The same request, one webhook a type of event, and the one that asks an address whether it wants them. */
export function eventWebhooks(components: Components): Record<string, object> {
  const event = componentOf(components.schemas, components.take(eventSchema, { closed: false }));
  const byType = Object.entries(event?.discriminator?.mapping ?? {}).map(([type, ref]) => {
    const name = nameOf(ref);
    const { description = '' } = components.schemas[name] ?? {};
    const post = received(`receive${name}`, `The event ${type}`, `${description} ${HOW}`, refTo(name), TAKEN);
    return [type, { post }] as const;
  });
  const verification = components.take(VERIFICATION, { closed: false });
  const { description = '' } = componentOf(components.schemas, verification) ?? {};
  const post = received('receiveVerification', 'A challenge to the address', description, verification, {
    description: 'The challenge, as plain text or as `{"challenge": …}`.',
    content: { 'text/plain': { schema: { type: 'string' } } },
  });
  return { ...Object.fromEntries(byType), 'subscription.verification': { post } };
}
