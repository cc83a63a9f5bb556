import type { LedgerRecord, SubmissionRecord } from '../evidence.js';

/** The network's writes, each beside the submission whose marker its text holds. */
export interface Writes {
  /** By idempotency key, the earliest first. */
  byKey: ReadonlyMap<string, readonly LedgerRecord[]>;
  /** Those with the marker of no submission. */
  unasked: readonly LedgerRecord[];
}

/**
 * Finds the submission of each write. Costs the length of the texts times the number of different lengths of markers, however many
 * submissions there are.
 */
export function findWrites(submissions: readonly SubmissionRecord[], ledger: readonly LedgerRecord[]): Writes {
  const keys = new Map<string, string>();
  for (const { marker, key } of submissions) if (marker !== null && marker !== '') keys.set(marker, key);
  const lengths = [...new Set([...keys.keys()].map((marker) => marker.length))].sort((a, b) => b - a);
  const byKey = new Map<string, LedgerRecord[]>();
  const unasked: LedgerRecord[] = [];
  for (const write of ledger.toSorted((a, b) => a.at - b.at)) {
    const key = keyIn(write.text, keys, lengths);
    if (key === undefined) unasked.push(write);
    else {
      const own = byKey.get(key);
      if (own) own.push(write);
      else byKey.set(key, [write]);
    }
  }
  return { byKey, unasked };
}

/** The longest markers first: one may be the beginning of another. */
function keyIn(text: string, keys: ReadonlyMap<string, string>, lengths: readonly number[]): string | undefined {
  for (const length of lengths) {
    for (let from = 0; from + length <= text.length; from++) {
      const key = keys.get(text.slice(from, from + length));
      if (key !== undefined) return key;
    }
  }
  return undefined;
}
