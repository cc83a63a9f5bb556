import type {
  DeliveriesJson,
  DeliveryDetailJson,
  DeliveryJson,
  ReplayedJson,
  ReplayFailedInput,
} from '../../routes/subscriptions/deliveries.js';
import type { NewSubscriptionInput, SubscriptionTargetInput } from '../../routes/subscriptions/new-subscription.js';
import { signingSecretJson } from '../../routes/subscriptions/signing-secret.js';
import type { RotatedSecretJson, SubscriptionPatchInput } from '../../routes/subscriptions/subscription-changes.js';
import type {
  NewSubscriptionJson,
  SubscriptionDetailJson,
  SubscriptionJson,
  SubscriptionsJson,
} from '../../routes/subscriptions/subscription-json.js';
import {
  AT,
  ATTEMPT,
  BEGUN,
  CONNECTION,
  DELIVERY,
  EVENT,
  LATER,
  LATEST,
  SECRET,
  SUBSCRIPTION,
  TOMORROW,
} from './values.js';

/** A subscription, and the delivery of one event to it. */

const address = 'https://hooks.example.com/events';

export const newSubscription: NewSubscriptionInput = {
  event_types: ['message_received'],
  callback_url: address,
  secret: SECRET,
};
export const subscription: SubscriptionJson = {
  id: SUBSCRIPTION,
  connection_id: CONNECTION,
  event_types: ['message_received'],
  callback_url: address,
  active: true,
  on_hold: false,
  verified: false,
  created_at: AT,
  settling: false,
  paused: null,
};
/** One that waits for its release. */
export const held: SubscriptionJson = { ...subscription, on_hold: true };
/** One whose receiver does not answer. */
export const paused: SubscriptionJson = { ...subscription, paused: { since: LATER, reason: 'timeout' } };
export const detail: SubscriptionDetailJson = {
  ...subscription,
  delivery_counts: { pending: 0, sending: 0, delivered: 1, failed: 0, canceled: 0 },
};
export const created: NewSubscriptionJson = { ...subscription, ...signingSecretJson(SECRET) };
/** Of all connections, not all of which it has come to. */
export const createdOfWorkspace: NewSubscriptionJson = { ...created, connection_id: null, settling: true };
export const target: SubscriptionTargetInput = { event_types: ['message_received'], callback_url: address };
export const list: SubscriptionsJson = { subscriptions: [subscription], next_cursor: null };
export const patch: SubscriptionPatchInput = { active: true };
export const rotated: RotatedSecretJson = { ...signingSecretJson(SECRET), previous_valid_until: TOMORROW };

/** Taken by its receiver at the first attempt. */
export const delivery: DeliveryJson = {
  id: DELIVERY,
  subscription_id: SUBSCRIPTION,
  event_id: EVENT,
  event_type: 'message_received',
  received_at: AT,
  status: 'delivered',
  attempt_count: 1,
  replay_count: 0,
  next_attempt_at: null,
  delivered_at: LATER,
  last_error: null,
};
/** Failed, and put back into the queue. */
export const replayed: DeliveryJson = {
  ...delivery,
  status: 'pending',
  attempt_count: 5,
  replay_count: 1,
  next_attempt_at: LATEST,
  delivered_at: null,
  last_error: 'status',
};
export const deliveryDetail: DeliveryDetailJson = {
  ...delivery,
  attempts: [
    {
      id: ATTEMPT,
      sequence: 1,
      outcome: 'delivered',
      status_code: 204,
      error: null,
      started_at: BEGUN,
      completed_at: LATER,
    },
  ],
};
export const deliveries: DeliveriesJson = { next_offset: null, deliveries: [delivery] };
export const replayFailed: ReplayFailedInput = { since: AT };
export const replayedCount: ReplayedJson = { replayed: 3 };
