import typia from 'typia';
import { setHold } from '../../../storage/deliveries/subscription-hold.js';
import { findSubscriptions, type SubscriptionRow } from '../../../storage/deliveries/subscriptions.js';
import { HttpError } from '../../../storage/model/errors.js';
import { type Answer, json } from '../../http/answer.js';
import { type Call, type Route, route } from '../../http/route.js';
import { subscriptionResource } from '../resources.js';
import { settledInTime } from './settled.js';
import { type SubscriptionJson, subscriptionJson } from './subscription-json.js';

/** What is so already stays so: a repeat changes nothing and answers the same (EVT-21). */
async function change(call: Call<SubscriptionRow, undefined, undefined>, onHold: boolean): Promise<Answer> {
  const { db, system, audit, resource } = call;
  await db.transaction(async (tx) => {
    const changed = await setHold(tx, resource, onHold);
    if (changed === undefined) throw new HttpError('not_found');
    if (changed) await audit.record(tx, [['subscription', resource.id]]);
  });
  const { connection_id: connectionId } = resource;
  if (!onHold && connectionId === null) await settledInTime(call, resource.id);
  else if (!onHold && connectionId !== null) system.hint({ type: 'deliveries', connectionId });
  const [row] = await findSubscriptions(db, [resource.id]);
  if (!row) throw new HttpError('not_found');
  return json(200, subscriptionJson(db, row));
}

const answers = {
  200: { description: 'The subscription as it is now.', schema: typia.json.schemas<[SubscriptionJson]>() },
};

export const subscriptionHoldRoutes: Route[] = [
  route({
    method: 'POST',
    operationId: 'holdSubscription',
    audit: 'subscription.hold',
    path: '/v1/subscriptions/{subscription_id}/hold',
    summary: 'Hold a subscription',
    description:
      'Holds a subscription, for the time that its receiver is being worked on. Events go on to be recorded with their deliveries, and none of these is tried until `release`. An attempt that is under way ends as it would.',
    scopes: ['events:write'],
    changes: 'subscriptions',
    body: { kind: 'none' },
    resource: subscriptionResource,
    answers,
    handle: (call) => change(call, true),
  }),
  route({
    method: 'POST',
    operationId: 'releaseSubscription',
    audit: 'subscription.release',
    path: '/v1/subscriptions/{subscription_id}/release',
    summary: 'Release a subscription from its hold',
    description:
      'Ends the hold of a subscription. What became due meanwhile goes out, that which was due first before the rest, with as many attempts as before the hold.',
    scopes: ['events:write'],
    changes: 'subscriptions',
    body: { kind: 'none' },
    resource: subscriptionResource,
    answers,
    handle: (call) => change(call, false),
  }),
];
