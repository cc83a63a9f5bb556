import type { KeyJson } from '../../../routes/keys.js';

/** How a key stands now: the first of these that holds, from the last one on. */
export type KeyState = 'works' | 'ends soon' | 'expired' | 'revoked';

/** As long before the end as answers tell of it unless that is set otherwise (HTTP-23). */
const SOON_ms = 14 * 86_400_000;

export function keyState({ expires_at, revoked_at }: KeyJson, now = Date.now()): KeyState {
  if (revoked_at !== null) return 'revoked';
  const left_ms = expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(expires_at) - now;
  if (left_ms <= 0) return 'expired';
  return left_ms < SOON_ms ? 'ends soon' : 'works';
}
