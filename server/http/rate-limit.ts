import { HttpError } from '../../storage/model/errors.js';
import { TokenBucket } from './token-bucket.js';

/** Takes one request of this key, or throws 429 `rate_limited` with `Retry-After` in whole seconds. */
export type RateLimit = (keyId: string) => void;

/**
 * A token bucket per key (HTTP-12): it fills with `perSecond` requests and holds one second's. A bucket that is
 * full again is dropped, so idle keys take no memory.
 */
export function rateLimit(perSecond: number, now: () => number = () => performance.now()): RateLimit {
  const most = Math.max(1, perSecond);
  const buckets = new Map<string, TokenBucket>();
  let sweptAt = now();
  return (keyId) => {
    const at = now();
    const bucket = buckets.get(keyId) ?? new TokenBucket(perSecond, most, at);
    buckets.set(keyId, bucket);
    if (!bucket.take(at)) throw exhausted(bucket.wait_s(at));
    if (at - sweptAt < bucket.filling_ms) return;
    sweptAt = at;
    for (const [id, other] of buckets) if (other.left(at) === most) buckets.delete(id);
  };
}

/** 429 of a bucket without a token. */
export function exhausted(wait_s: number, message?: string): HttpError {
  return new HttpError('rate_limited', message, undefined, { 'Retry-After': String(wait_s) });
}
