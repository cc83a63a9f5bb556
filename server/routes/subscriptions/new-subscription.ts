import type { tags } from 'typia';
import { CALLBACK_REFUSALS, checkCallback } from '../../../actors/deliveries/callback/callback-guard.js';
import type { Distinct, Text } from '../../../browser-pool/contract/fields.js';
import type { SubscriptionBounds } from '../../../storage/deliveries/subscription-bounds.js';
import { HttpError } from '../../../storage/model/errors.js';
import { newId } from '../../../storage/model/new-id.js';
import type { EventType } from '../../../storage/model/records.js';
import { subscriptionSecretContext } from '../../../storage/secrets/sealing.js';
import { limitOf } from '../../../storage/workspaces/limits.js';
import { invalidField } from '../../http/answer.js';
import type { Call } from '../../http/route.js';
import { destinationOf } from '../../http/subscription-rules.js';
import { newSecret } from './signing-secret.js';

/** What a subscription gets, and where. */
export interface SubscriptionTargetInput {
  /** The types of event to push, each once. */
  event_types: EventType[] & tags.MinItems<1> & Distinct;
  /** Public HTTPS address, without credentials, query and fragment. */
  callback_url: string & tags.MinLength<1> & tags.MaxLength<2048>;
}

/** Where events are to be pushed to (contract: "Subscription creation rules"). */
export interface NewSubscriptionInput extends SubscriptionTargetInput {
  /** Signs the callbacks, 32 to 255 characters; one is generated when it is absent. */
  secret?: Text<32, 255>;
}

type TargetCall = Pick<
  Call<unknown, SubscriptionTargetInput, undefined>,
  'body' | 'callbackPolicy' | 'subscriptions' | 'key'
>;

/** The hash of where the body's callbacks would lead; throws 4xx when they may not lead there. */
export async function checkedDestination({ body, callbackPolicy, subscriptions, key }: TargetCall): Promise<Buffer> {
  const callback = await checkCallback(body.callback_url, callbackPolicy);
  if (!callback.ok) throw invalidField('body.callback_url', CALLBACK_REFUSALS[callback.reason]);
  if (!subscriptions.destination) throw new HttpError('encryption_key_unavailable');
  return subscriptions.destination(key.workspace_id, destinationOf(body.callback_url));
}

type CreationCall = TargetCall & Pick<Call<unknown, NewSubscriptionInput, undefined>, 'body' | 'ring' | 'limits'>;

/** A subscription that may be stored, its secret, and how many there may be. */
export async function prepared(call: CreationCall) {
  const { ring, subscriptions, body, key, limits } = call;
  const destination = await checkedDestination(call);
  const id = newId();
  const secret = body.secret ?? newSecret();
  const ofWorkspace = limitOf('subscriptions', key.limits, limits) ?? subscriptions.bounds.ofWorkspace;
  const bounds: SubscriptionBounds = { ...subscriptions.bounds, ofWorkspace };
  const subscription = {
    id,
    eventTypes: body.event_types,
    callbackUrl: body.callback_url,
    secretSealed: ring.seal(secret, subscriptionSecretContext(id)),
    destination,
    unproven: subscriptions.verifier !== undefined,
  };
  return { subscription, secret, bounds };
}
