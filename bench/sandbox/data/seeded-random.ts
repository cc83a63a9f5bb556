import { hash } from 'node:crypto';

/** A deterministic source of numbers: the same words give the same sequence, on every machine. */
export class SeededRandom {
  #state: number;

  constructor(...words: (string | number)[]) {
    this.#state = fingerprint(words.join('\u0000'));
  }

  /** 0 ≤ x < 1 (mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 0x1_0000_0000;
  }

  /** An integer with `low` ≤ x ≤ `high`. */
  between(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.next() * list.length)] as T;
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }
}

/** 32 bits of a text (FNV-1a with a final mix, so that near texts land far apart). */
export function fingerprint(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash ^= hash >>> 16;
  hash = Math.imul(hash, 0x85ebca6b);
  return (hash ^ (hash >>> 13)) >>> 0;
}

/** An id of `length` characters (at most 43) out of letters, digits, `-` and `_`, always the same for the same words. */
export function stableId(length: number, ...words: (string | number)[]): string {
  return hash('sha256', words.join('\u0000'), 'base64url').slice(0, length);
}
