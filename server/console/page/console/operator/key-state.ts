import type { KeyJson } from '../../../../routes/operator/keys.js';

/** How a key stands now: the first of these that holds, from the last one on. */
export type KeyState = 'active' | 'expires soon' | 'expired' | 'revoked';

/** `warning_days`: how long before its end it expires soon, as the session tells (HTTP-23). */
export function keyState({ expires_at, revoked_at }: KeyJson, warning_days: number, now = Date.now()): KeyState {
  if (revoked_at !== null) return 'revoked';
  const left_ms = expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(expires_at) - now;
  if (left_ms <= 0) return 'expired';
  return left_ms < warning_days * 86_400_000 ? 'expires soon' : 'active';
}
