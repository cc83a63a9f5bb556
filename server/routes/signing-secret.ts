import { randomBytes } from 'node:crypto';

/** A new secret that signs callbacks, for a client that gave none and for a rotation (EVT-12). */
export function signingSecret(): string {
  return randomBytes(32).toString('base64url');
}
