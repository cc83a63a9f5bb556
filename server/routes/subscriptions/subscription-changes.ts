import typia from 'typia';
import { type StoppingConnection, stopRest, stopSubscription } from '../../../storage/connections/stopping.js';
import { rotateSecret } from '../../../storage/deliveries/signing-secrets.js';
import { changeSubscription, deleteSubscription } from '../../../storage/deliveries/subscription-change.js';
import {
  activateSubscription,
  callbackUrlOf,
  findSubscriptions,
  lockSubscription,
  markVerified,
  type SubscriptionRow,
} from '../../../storage/deliveries/subscriptions.js';
import { setWorkspaceActive } from '../../../storage/deliveries/workspace-subscriptions.js';
import { LIMITS as STORAGE_LIMITS } from '../../../storage/limits.js';
import { HttpError } from '../../../storage/model/errors.js';
import { subscriptionSecretContext } from '../../../storage/secrets/sealing.js';
import { type Answer, json, noContent } from '../../http/answer.js';
import type { Timestamp } from '../../http/fields.js';
import { LIMITS } from '../../http/limits.js';
import { type Call, type Route, route } from '../../http/route.js';
import { subscriptionResource } from '../resources.js';
import { checkedDestination, type SubscriptionTargetInput } from './new-subscription.js';
import { settledInTime } from './settled.js';
import { newSecret, type SigningSecretJson, signingSecretJson } from './signing-secret.js';
import { type SubscriptionJson, subscriptionJson } from './subscription-json.js';
import { proves, withRoomForProof } from './subscription-proof.js';

/** Whether the subscription gets events: exactly this one key. */
export interface SubscriptionPatchInput {
  /** `true` activates it, `false` deactivates it and cancels what waits. */
  active: boolean;
}

/** A new secret; it is shown only here. */
export interface RotatedSecretJson extends SigningSecretJson {
  /** Until then the secret before it signs as well, as those before that do to theirs. */
  previous_valid_until: Timestamp;
}

/**
 *   inactive ─ active:true, connection ready ─▶ active     (not ready: 409, unchanged; a disconnect under way: 503, unchanged;
 *                                                           its address does not prove itself where it has to: 409, unchanged)
 *   active ─ active:false ─▶ inactive                      (pending and sending deliveries become canceled)
 *
 * One of the workspace is active whatever its connections are; they follow.
 */
async function patch(call: Call<SubscriptionRow, SubscriptionPatchInput, undefined>): Promise<Answer> {
  const { db, resource, body, subscriptions } = call;
  if (subscriptions.verifier && body.active && !resource.active && !resource.verified) await prove(call);
  const stopping = await db.transaction(async (tx): Promise<StoppingConnection | null> => {
    const locked = await lockSubscription(tx, resource);
    if (!locked) throw new HttpError('not_found');
    if (locked.active === body.active) return null;
    const recorded = () => call.audit.record(tx, [['subscription', resource.id]], { details: { active: body.active } });
    const { connection_id: id, partition } = resource;
    // It may have been active when it was read, made while no proof was wanted.
    if (body.active && subscriptions.verifier && !locked.verified) throw new HttpError('callback_not_verified');
    if (body.active && locked.health !== 'ready') throw new HttpError('connection_not_ready');
    // What is still to be canceled would be sent otherwise.
    if (body.active && locked.stopping) {
      throw new HttpError('unavailable', 'deliveries of the connection are still being canceled');
    }
    if (id === null || partition === null) {
      await recorded();
      await setWorkspaceActive(tx, resource.id, body.active);
      return null;
    }
    if (!body.active) {
      await recorded();
      return (await stopSubscription(tx, { id: resource.id, partition, connection_id: id }))
        ? null
        : { id, partition, reason: 'connection_disconnected' };
    }
    await activateSubscription(tx, resource.id);
    await recorded();
    return null;
  });
  const until = performance.now() + STORAGE_LIMITS.disconnect_ms;
  if (stopping) await stopRest(db, stopping, () => performance.now() > until);
  if (resource.connection_id === null) await settledInTime(call, resource.id);
  return asItIs(call);
}

async function asItIs({
  db,
  resource,
}: Pick<Call<SubscriptionRow, unknown, unknown>, 'db' | 'resource'>): Promise<Answer> {
  const [row] = await findSubscriptions(db, [resource.id]);
  if (!row) throw new HttpError('not_found');
  return json(200, subscriptionJson(db, row));
}

/** Another address proves itself before the first callback goes there; until then the one before stays (EVT-22). */
async function change(call: Call<SubscriptionRow, SubscriptionTargetInput, undefined>): Promise<Answer> {
  const { db, system, resource, body, subscriptions, audit } = call;
  const destination = await checkedDestination(call);
  const wanted = subscriptions.verifier !== undefined;
  const given = wanted && body.callback_url !== callbackUrlOf(db, resource);
  if (given && !(await withRoomForProof(call, () => proves(call, resource.id, body.callback_url)))) {
    throw new HttpError('callback_not_verified');
  }
  await db.transaction(async (tx) => {
    const changed = await changeSubscription(tx, resource, {
      ...{ eventTypes: body.event_types, callbackUrl: body.callback_url, destination },
      ...{ proof: { given, wanted }, ofDestination: subscriptions.bounds.ofDestination },
    });
    switch (changed) {
      case 'gone':
        throw new HttpError('not_found');
      case 'full':
        throw new HttpError('too_many_subscriptions');
      case 'unproven':
        throw new HttpError('unavailable', 'the subscription was changed meanwhile');
      case 'unchanged':
        return;
      case 'changed':
      case 'moved':
        return audit.record(tx, [['subscription', resource.id]], { details: { moved: changed === 'moved' } });
      default:
        changed satisfies never;
    }
  });
  if (resource.connection_id === null) await settledInTime(call, resource.id);
  else system.hint({ type: 'deliveries', connectionId: resource.connection_id });
  return asItIs(call);
}

async function remove({ db, audit, resource }: Call<SubscriptionRow, undefined, undefined>): Promise<Answer> {
  await db.transaction(async (tx) => {
    if (!(await deleteSubscription(tx, resource))) throw new HttpError('not_found');
    await audit.record(tx, [['subscription', resource.id]]);
  });
  return noContent;
}

/** Throws 409 unless the address proves itself now. */
async function prove(call: Call<SubscriptionRow, SubscriptionPatchInput, undefined>): Promise<void> {
  const { db, resource } = call;
  const proven = await withRoomForProof(call, () => proves(call, resource.id, callbackUrlOf(call.db, resource)));
  if (!proven) throw new HttpError('callback_not_verified');
  await markVerified(db, resource.id);
}

/** The earlier secrets sign on, each until it was told (EVT-12); a rotation whose answer was lost leaves one as any other does. */
async function rotate({ db, ring, audit, resource }: Call<SubscriptionRow, undefined, undefined>): Promise<Answer> {
  const secret = newSecret();
  const sealed = ring.seal(secret, subscriptionSecretContext(resource.id));
  const until = await db.transaction(async (tx) => {
    if (!(await lockSubscription(tx, resource))) throw new HttpError('not_found');
    const rotated = await rotateSecret(tx, resource.id, sealed, LIMITS);
    if (rotated) await audit.record(tx, [['subscription', resource.id]]);
    return rotated;
  });
  if (!until) throw new HttpError('too_many_secrets');
  return json(200, {
    ...signingSecretJson(secret),
    previous_valid_until: until.toISOString(),
  } satisfies RotatedSecretJson);
}

export const subscriptionChangeRoutes: Route[] = [
  route({
    method: 'PATCH',
    operationId: 'updateSubscription',
    audit: 'subscription.update',
    path: '/v1/subscriptions/{subscription_id}',
    summary: 'Activate or deactivate a subscription',
    description:
      'Activates or deactivates a subscription. Deactivating cancels the deliveries that wait or are under way; events of that time are never sent to it.',
    scopes: ['events:write'],
    changes: 'subscriptions',
    body: {
      kind: 'json',
      limit_bytes: LIMITS.body_bytes,
      validate: typia.createValidateEquals<SubscriptionPatchInput>(),
      schema: typia.json.schemas<[SubscriptionPatchInput]>(),
    },
    resource: subscriptionResource,
    answers: {
      200: { description: 'The subscription as it is now.', schema: typia.json.schemas<[SubscriptionJson]>() },
    },
    refusals: ['connection_not_ready', 'callback_not_verified'],
    handle: patch,
  }),
  route({
    method: 'PUT',
    operationId: 'changeSubscription',
    audit: 'subscription.change',
    path: '/v1/subscriptions/{subscription_id}',
    summary: 'Update a subscription',
    description:
      'Changes what a subscription gets and where, and keeps its secret and its deliveries: the next attempt of each goes to the new address. Where addresses have to prove themselves, another one is asked first, and a refusal changes nothing.',
    scopes: ['events:write'],
    changes: 'subscriptions',
    body: {
      kind: 'json',
      limit_bytes: LIMITS.body_bytes,
      validate: typia.createValidateEquals<SubscriptionTargetInput>(),
      schema: typia.json.schemas<[SubscriptionTargetInput]>(),
    },
    resource: subscriptionResource,
    answers: {
      200: { description: 'The subscription as it is now.', schema: typia.json.schemas<[SubscriptionJson]>() },
    },
    refusals: ['callback_not_verified', 'too_many_subscriptions', 'encryption_key_unavailable'],
    handle: change,
  }),
  route({
    method: 'DELETE',
    operationId: 'deleteSubscription',
    audit: 'subscription.delete',
    path: '/v1/subscriptions/{subscription_id}',
    summary: 'Delete a subscription with its deliveries',
    description:
      'Deletes a subscription with its deliveries and their attempts. Nothing more is sent, an attempt that is under way ends as it would. The events stay.',
    scopes: ['events:write'],
    changes: 'subscriptions',
    body: { kind: 'none' },
    resource: subscriptionResource,
    answers: { 204: { description: 'It is deleted.' } },
    handle: remove,
  }),
  route({
    method: 'POST',
    operationId: 'rotateSubscriptionSecret',
    audit: 'subscription.rotate_secret',
    path: '/v1/subscriptions/{subscription_id}/rotate-secret',
    summary: 'Rotate the signing secret of a subscription',
    description:
      'Makes a new signing secret, which only this answer shows. Callbacks carry a signature by each secret that is still valid, so a receiver can change over within a day.',
    scopes: ['events:write'],
    changes: 'subscriptions',
    body: { kind: 'none' },
    resource: subscriptionResource,
    answers: { 200: { description: 'The new secret.', schema: typia.json.schemas<[RotatedSecretJson]>() } },
    refusals: ['too_many_secrets', 'encryption_key_unavailable'],
    handle: rotate,
  }),
];
