import typia from 'typia';
import { type StoppingConnection, stopRest, stopSubscription } from '../../storage/connections/stopping.js';
import {
  activateSubscription,
  findSubscriptions,
  lockSubscription,
  rotateSecret,
  type SubscriptionRow,
} from '../../storage/deliveries/subscriptions.js';
import { LIMITS as STORAGE_LIMITS } from '../../storage/limits.js';
import { HttpError } from '../../storage/model/errors.js';
import { subscriptionSecretContext } from '../../storage/secrets/sealing.js';
import { type Answer, json } from '../http/answer.js';
import type { Timestamp } from '../http/fields.js';
import { LIMITS } from '../http/limits.js';
import { type Call, type Route, route } from '../http/route.js';
import { subscriptionResource } from './resources.js';
import { signingSecret } from './signing-secret.js';
import { type SubscriptionJson, subscriptionJson } from './subscription-json.js';

/** Exactly this one key. */
export interface SubscriptionPatchInput {
  active: boolean;
}

/** A new secret, shown here only; until `previous_valid_until` the one before it signs as well. */
export interface RotatedSecretJson {
  secret: string;
  previous_valid_until: Timestamp;
}

/**
 *   inactive ─ active:true, connection ready ─▶ active     (not ready: 409, unchanged; a disconnect under way: 503, unchanged)
 *   active ─ active:false ─▶ inactive                      (pending and sending deliveries become canceled)
 */
async function patch({
  db,
  resource,
  body,
}: Call<SubscriptionRow, SubscriptionPatchInput, undefined>): Promise<Answer> {
  const stopping = await db.transaction(async (tx): Promise<StoppingConnection | null> => {
    const locked = await lockSubscription(tx, resource);
    if (!locked) throw new HttpError('not_found');
    if (locked.active === body.active) return null;
    if (!body.active) {
      const { connection_id: id, partition } = resource;
      return (await stopSubscription(tx, resource)) ? null : { id, partition, reason: 'connection_disconnected' };
    }
    if (locked.health !== 'ready') throw new HttpError('connection_not_ready');
    // What is still to be canceled would be sent otherwise.
    if (locked.stopping) throw new HttpError('unavailable', 'deliveries of the connection are still being canceled');
    await activateSubscription(tx, resource.id);
    return null;
  });
  const until = performance.now() + STORAGE_LIMITS.disconnect_ms;
  if (stopping) await stopRest(db, stopping, () => performance.now() > until);
  const [row] = await findSubscriptions(db, [resource.id]);
  if (!row) throw new HttpError('not_found');
  return json(200, subscriptionJson(row));
}

async function rotate({ db, ring, resource }: Call<SubscriptionRow, undefined, undefined>): Promise<Answer> {
  const secret = signingSecret();
  const sealed = ring.seal(secret, subscriptionSecretContext(resource.id));
  const until = await rotateSecret(db, resource.id, sealed, LIMITS.secret_overlap_hours);
  if (!until) throw new HttpError('not_found');
  return json(200, { secret, previous_valid_until: until.toISOString() } satisfies RotatedSecretJson);
}

export const subscriptionChangeRoutes: Route[] = [
  route({
    method: 'PATCH',
    path: '/v1/subscriptions/{subscription_id}',
    summary: 'Activate or deactivate a subscription',
    scopes: ['events:write'],
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
    refusals: ['connection_not_ready'],
    handle: patch,
  }),
  route({
    method: 'POST',
    path: '/v1/subscriptions/{subscription_id}/rotate-secret',
    summary: 'New signing secret; the old one signs beside it for a day',
    scopes: ['events:write'],
    body: { kind: 'none' },
    resource: subscriptionResource,
    answers: { 200: { description: 'The new secret.', schema: typia.json.schemas<[RotatedSecretJson]>() } },
    refusals: ['encryption_key_unavailable'],
    handle: rotate,
  }),
];
