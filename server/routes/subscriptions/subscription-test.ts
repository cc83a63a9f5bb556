import typia from 'typia';
import type { SubscriptionRow } from '../../../storage/deliveries/subscriptions.js';
import { recordTestEvent } from '../../../storage/deliveries/test-event.js';
import { HttpError } from '../../../storage/model/errors.js';
import { type Answer, json } from '../../http/answer.js';
import { LIMITS } from '../../http/limits.js';
import { type Call, type Route, route } from '../../http/route.js';
import { subscriptionResource } from '../resources.js';
import { type DeliveryJson, deliveryJson } from './deliveries.js';

/** An event like any other from here on, which only this subscription gets (EVT-19). Asking twice sends two. */
async function sendTest({ db, system, audit, resource }: Call<SubscriptionRow, undefined, undefined>): Promise<Answer> {
  const delivery = await db.transaction(async (tx) => {
    const recorded = await recordTestEvent(tx, resource, LIMITS);
    if (typeof recorded === 'string') throw new HttpError(recorded === 'gone' ? 'not_found' : recorded);
    await audit.record(tx, [['subscription', resource.id]]);
    return recorded;
  });
  system.hint({ type: 'deliveries', connectionId: delivery.connection_id });
  return json(202, deliveryJson(delivery), { Location: `/v1/deliveries/${delivery.id}` });
}

export const subscriptionTestRoutes: Route[] = [
  route({
    method: 'POST',
    operationId: 'sendTestEvent',
    audit: 'subscription.test',
    path: '/v1/subscriptions/{subscription_id}/test',
    summary: 'Send a test event',
    description:
      'Records an event of type `subscription.test` that only this subscription gets, whatever it selects: signed, tried again and shown among its deliveries as any other. Each request sends one.',
    scopes: ['events:write'],
    changes: 'subscriptions',
    body: { kind: 'none' },
    resource: subscriptionResource,
    answers: {
      202: {
        description: 'The delivery of an event of type `subscription.test`, queued.',
        schema: typia.json.schemas<[DeliveryJson]>(),
        headers: ['Location'],
      },
    },
    refusals: ['subscription_inactive', 'no_connection', 'too_many_tests'],
    handle: sendTest,
  }),
];
