import { callbackBody } from '../../../actors/deliveries/callback/callback-body.js';
import type { DeliveryRow } from '../../../storage/deliveries/deliveries-read.js';
import { findCallbackEvent } from '../../../storage/deliveries/events.js';
import { HttpError } from '../../../storage/model/errors.js';
import type { Answer } from '../../http/answer.js';
import { type Call, type Route, route } from '../../http/route.js';
import { deliveryResource } from '../resources.js';
import { eventSchema } from './event-json.js';

/** Made as a sender makes it; that it was read is committed before it is shown: a signature can be computed over it. */
async function body({ db, ring, audit, resource }: Call<DeliveryRow, undefined, undefined>): Promise<Answer> {
  const event = await findCallbackEvent(db, resource.event_id);
  if (!event) throw new HttpError('not_found');
  const bytes = callbackBody(event, ring).toString();
  await audit.reveal([
    ['delivery', resource.id],
    ['event', resource.event_id],
  ]);
  return { status: 200, body: bytes };
}

export const deliveryBodyRoutes: Route[] = [
  route({
    method: 'GET',
    operationId: 'getDeliveryBody',
    audit: 'delivery.reveal_body',
    path: '/v1/deliveries/{delivery_id}/body',
    summary: 'Get the body of a delivery',
    description:
      'Answers the bytes that every attempt of the delivery carries, as they are signed: by them a receiver can find out why a signature does not match.',
    scopes: ['events:read'],
    body: { kind: 'none' },
    resource: deliveryResource,
    answers: { 200: { description: 'The body.', schema: eventSchema } },
    handle: body,
  }),
];
