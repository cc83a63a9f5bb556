import { HttpError } from '../../storage/model/errors.js';

/** Takes one request of this key, or throws 429 `rate_limited` with `Retry-After` in whole seconds. */
export type RateLimit = (keyId: string) => void;

/**
 * A token bucket per key (HTTP-12): `perSecond` requests flow in, and as many may come at once. A bucket that is
 * full again is forgotten, so idle keys hold nothing.
 */
export function rateLimit(perSecond: number, now: () => number = () => performance.now()): RateLimit {
  const burst = Math.max(1, perSecond);
  const buckets = new Map<string, { tokens: number; at: number }>();
  let sweptAt = now();
  return (keyId) => {
    const at = now();
    const bucket = buckets.get(keyId);
    const tokens = bucket ? Math.min(burst, bucket.tokens + ((at - bucket.at) / 1000) * perSecond) : burst;
    if (tokens < 1) {
      const wait_s = Math.ceil((1 - tokens) / perSecond);
      throw new HttpError('rate_limited', undefined, undefined, {
        'Retry-After': String(wait_s),
      });
    }
    buckets.set(keyId, { tokens: tokens - 1, at });
    const full_ms = (burst / perSecond) * 1000;
    if (at - sweptAt < full_ms) return;
    sweptAt = at;
    for (const [id, other] of buckets) if (at - other.at >= full_ms) buckets.delete(id);
  };
}
