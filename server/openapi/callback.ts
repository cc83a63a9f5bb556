import { LIMITS } from '../../actors/deliveries/limits.js';
import { callbackHeaders } from '../../actors/deliveries/signature.js';
import { eventSchema } from '../routes/events.js';
import type { Components } from './schema.js';

/** What the headers of a callback are; which there are is asked of the code that sends them. */
const MEANINGS: Record<string, string> = {
  'X-CS-Event-Id': 'The event: dedupe by it.',
  'X-CS-Delivery-Id': 'The delivery series; not the event.',
  'X-CS-Timestamp': 'Unix seconds of this attempt: refuse stale ones.',
  'X-CS-Signature':
    '`v1=` and the hexadecimal HMAC-SHA256, under the subscription’s secret, of timestamp, period and raw body; two of them, with a comma, for a day after a rotation. Compare in constant time.',
  'webhook-id': 'Standard Webhooks: the event.',
  'webhook-timestamp': 'Standard Webhooks: Unix seconds of this attempt.',
  'webhook-signature': 'Standard Webhooks: `v1,` and base64; the key is the secret’s UTF-8 bytes.',
};

/** The request that a subscription's receiver gets, as a callback object (contract: "Events"). */
export function eventCallback(components: Components): object {
  const schema = components.take(eventSchema, { closed: false, dropHeads: false });
  const sent = callbackHeaders({
    eventId: '01998000-0000-7000-8000-000000000004',
    deliveryId: '01998000-0000-7000-8000-000000000005',
    body: Buffer.from('{}'),
    at: new Date(1_767_268_800_000),
    secrets: ['a-signing-secret-of-32-characters'],
  });
  const parameters = Object.entries(sent).flatMap(([name, example]) => {
    const description = MEANINGS[name];
    return description
      ? [{ name, in: 'header', required: true, description, schema: { type: 'string' }, example }]
      : [];
  });
  return {
    '{$request.body#/callback_url}': {
      post: {
        operationId: 'receiveEvent',
        summary: 'An event, delivered at least once',
        description: `Answer 2xx promptly. Anything else, a redirect or silence is tried again after ${LIMITS.retry_waits_s.join(', ')} seconds, up to ${LIMITS.retry_waits_s.length + 1} attempts in all.`,
        parameters,
        requestBody: { required: true, content: { 'application/json': { schema } } },
        responses: { '2XX': { description: 'Taken.' } },
      },
    },
  };
}
