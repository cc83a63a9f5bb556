import { LIMITS } from './limits.js';

/** The preferences of a `Prefer` header (RFC 7240). Unknown ones are ignored. */
export interface Preferences {
  /** `respond-async`: answer without the brief wait. */
  respondAsync: boolean;
  /** `dry-run`: validate, store nothing (OPS-16). */
  dryRun: boolean;
  /** `wait=N`, seconds, at most 30 (HTTP-18). */
  wait_s: number | null;
}

export function parsePrefer(header: string): Preferences {
  const preferences: Preferences = { respondAsync: false, dryRun: false, wait_s: null };
  if (header === '') return preferences;
  for (const token of header.split(',')) {
    const [name, value] = token
      .split(';', 1)[0]!
      .split('=', 2)
      .map((part) => part.trim().toLowerCase());
    if (name === 'respond-async') preferences.respondAsync = true;
    else if (name === 'dry-run') preferences.dryRun = true;
    // Of a preference that is given twice the first counts (RFC 7240, 2).
    else if (name === 'wait' && preferences.wait_s === null && /^"?[0-9]{1,9}"?$/.test(value ?? '')) {
      preferences.wait_s = Math.min(Number(value!.replaceAll('"', '')), LIMITS.wait_s);
    }
  }
  return preferences;
}
