import { randomBytes } from 'node:crypto';

/** A secret that signs callbacks, as the one answer that shows it does. */
export interface SigningSecretJson {
  /** Signs the callbacks from now on. It is shown only here: keep it. */
  secret: string;
  /** The same secret as verifiers of Standard Webhooks take it: `whsec_` and base64 of its bytes (EVT-4). */
  signing_secret: string;
}

/** A new secret, for a client that gave none and for a rotation (EVT-12). */
export function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

export function signingSecretJson(secret: string): SigningSecretJson {
  return { secret, signing_secret: `whsec_${Buffer.from(secret).toString('base64')}` };
}
