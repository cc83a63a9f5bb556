/** Deeper JSON than this is refused before anything walks it recursively. */
export const JSON_DEPTH = 32;

export const STORABLE = `text without U+0000, finite numbers, nested at most ${JSON_DEPTH} deep`;

/**
 * True when a JSON value of unknown shape can be stored as jsonb and walked recursively: no text in it holds what
 * PostgreSQL cannot (U+0000, lone surrogates), no number overflowed (`1e400` reads as Infinity and would be written as
 * null), and it is nested at most `depth` deep.
 */
export function storable(value: unknown, depth: number = JSON_DEPTH): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value === 'string') return !/[\0\p{Cs}]/u.test(value);
  if (typeof value !== 'object' || value === null) return true;
  if (depth === 0) return false;
  return Object.entries(value).every(([key, inner]) => storable(key, 0) && storable(inner, depth - 1));
}

/** True when a JSON value is nested at most `depth` deep and no number in it overflowed. */
export function shallow(value: unknown, depth: number): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return true;
  return depth > 0 && Object.values(value).every((inner) => shallow(inner, depth - 1));
}
