import { sealedSecrets } from '../../../storage/deliveries/signing-secrets.js';
import { HttpError } from '../../../storage/model/errors.js';
import { type KeyRing, KeyUnknown } from '../../../storage/secrets/encryption.js';
import { subscriptionSecretContext } from '../../../storage/secrets/sealing.js';
import { LIMITS } from '../../http/limits.js';
import type { Call } from '../../http/route.js';

/** Exchanges under way at this node, of each workspace that has any. */
const underWay = new Map<string, number>();

type ProofCall = Pick<Call<unknown, unknown, undefined>, 'db' | 'ring' | 'key' | 'subscriptions'>;

/**
 * Does `work` while the workspace has room for one more address to prove itself, where they have to (EVT-18); else throws 503
 * `overloaded`: receivers that are slow to answer hold few requests of their workspace.
 */
export async function withRoomForProof<T>({ key, subscriptions }: ProofCall, work: () => Promise<T>): Promise<T> {
  if (!subscriptions.verifier) return work();
  const { workspace_id } = key;
  const before = underWay.get(workspace_id) ?? 0;
  if (before >= LIMITS.workspace_verifications) {
    throw new HttpError('overloaded', 'too many addresses of the workspace are proving themselves');
  }
  underWay.set(workspace_id, before + 1);
  try {
    return await work();
  } finally {
    const left = (underWay.get(workspace_id) ?? 1) - 1;
    if (left > 0) underWay.set(workspace_id, left);
    else underWay.delete(workspace_id);
  }
}

/** Asks the address of a stored subscription to prove itself. False as well when the subscription is gone. */
export async function proves(
  { db, ring, subscriptions }: ProofCall,
  id: string,
  callbackUrl: string,
): Promise<boolean> {
  const signing = await sealedSecrets(db, id);
  if (!signing || !subscriptions.verifier) return false;
  const secrets = signing.sealed.map((sealed) => opened(ring, sealed, subscriptionSecretContext(id)));
  return subscriptions.verifier.verify({ callbackUrl, secrets, at: signing.at });
}

function opened(ring: KeyRing, sealed: Buffer, context: string): string {
  try {
    return ring.open(sealed, context).toString('utf8');
  } catch (error) {
    throw error instanceof KeyUnknown ? new HttpError('encryption_key_unavailable') : error;
  }
}
