/** Whether a value, JSON of any depth, names somebody. */
export type Mentions = (value: unknown) => boolean;

/**
 * Finds an identifier as the network writes it, an id, a public identifier or an address, in whatever case: as a whole text or key, or in one
 * where no letter, digit, `_` or `-` stands beside it, as in an address of a profile or a URN, plain or percent-encoded.
 */
export function mentionsOf(identifier: string): Mentions {
  const escaped = identifier.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
  const named = new RegExp(`(?<![\\p{L}\\p{N}_-])${escaped}(?![\\p{L}\\p{N}_-])`, 'iu');
  const inText = (text: string): boolean => named.test(text) || (text.includes('%') && named.test(decoded(text)));
  const search = (value: unknown): boolean => {
    if (typeof value === 'string') return inText(value);
    if (typeof value === 'number') return inText(String(value));
    if (Array.isArray(value)) return value.some(search);
    if (value === null || typeof value !== 'object') return false;
    return Object.entries(value).some(([key, one]) => inText(key) || search(one));
  };
  return search;
}

/** Each escape by itself: one that is broken spoils no other. */
function decoded(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (escapes) => {
    try {
      return decodeURIComponent(escapes);
    } catch {
      return escapes;
    }
  });
}
