import type { CallbackVerifier } from '../../actors/deliveries/callback/callback-verifier.js';
import type { SubscriptionBounds } from '../../storage/deliveries/subscription-bounds.js';

/** What a node holds subscriptions to (HTTP-13). */
export interface SubscriptionRules {
  bounds: SubscriptionBounds;
  /** Hashes where a workspace's callbacks lead. Null: the secret of the hashes cannot be opened, and no subscription can be created. */
  destination: DestinationHash | null;
  /** Set: addresses have to prove themselves before anything else is sent there (EVT-18). */
  verifier?: Pick<CallbackVerifier, 'verify' | 'close'> | undefined;
}

/** The hash of a destination, `host:port`, of this workspace. */
export type DestinationHash = (workspaceId: string, destination: string) => Buffer;

/** Host and port of a callback, as one text for one destination: in small letters, with its port, without the dot of a full name. */
export function destinationOf(callbackUrl: string): string {
  const { hostname, port } = new URL(callbackUrl);
  return `${hostname.replace(/\.$/, '')}:${port || '443'}`;
}
