/** Deeper JSON than this is refused before anything walks it recursively. */
export const JSON_DEPTH = 32;

/** What `isPgSafeJson` expects, as an error words it. */
export const PG_SAFE_JSON = `text without U+0000, finite numbers, nested at most ${JSON_DEPTH} deep`;

/** True for a text without what PostgreSQL cannot store: U+0000 and lone surrogates. */
export function isPgSafeText(text: string): boolean {
  return !/[\0\p{Cs}]/u.test(text);
}

/**
 * True when a JSON value of unknown shape can be stored as jsonb and walked recursively: every text in it is safe, no
 * number overflowed (`1e400` reads as Infinity and would be written as null), and it is nested at most `depth` deep.
 */
export function isPgSafeJson(value: unknown, depth: number = JSON_DEPTH): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value === 'string') return isPgSafeText(value);
  if (typeof value !== 'object' || value === null) return true;
  if (depth === 0) return false;
  return Object.entries(value).every(([key, inner]) => isPgSafeText(key) && isPgSafeJson(inner, depth - 1));
}

/** True when a JSON value whose texts are safe is nested at most `depth` deep and no number in it overflowed. */
export function isShallowJson(value: unknown, depth: number = JSON_DEPTH): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return true;
  return depth > 0 && Object.values(value).every((inner) => isShallowJson(inner, depth - 1));
}
