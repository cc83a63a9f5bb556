/**
 * Everything in the simulated network is computed from these two: the same text always has the same number, on every
 * thread and node and after every restart.
 */

/** FNV-1a over the text with a final avalanche, 32 bits unsigned. */
export function seedOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return mix(hash, 0);
}

/** A number made of two, 32 bits unsigned (the finaliser of MurmurHash3). */
export function mix(a: number, b: number): number {
  let hash = a ^ Math.imul(b + 0x9e3779b9, 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** One of the list's entries. The list is never empty. */
export function pick<T>(list: readonly T[], seed: number, salt: number): T {
  return list[mix(seed, salt) % list.length] as T;
}

/** An integer from `low` to `high`, both included. */
export function between(low: number, high: number, seed: number, salt: number): number {
  return low + (mix(seed, salt) % (high - low + 1));
}
