import { createHash } from 'node:crypto';
import type { Answer } from './answer.js';

/** Text that does not change while the service runs, with the headers that let clients keep a copy. */
export interface Fixed {
  body: string;
  contentType: string;
  headers: Record<string, string>;
}

export function fixed(body: string, contentType: string, headers: Record<string, string> = {}): Fixed {
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
  // A copy may be kept but must be revalidated: another version of the service has other text.
  return { body, contentType, headers: { ETag: etag, 'Cache-Control': 'no-cache', ...headers } };
}

/** The text, or 304 for a copy that is still current. */
export function answered({ body, contentType, headers }: Fixed, ifNoneMatch: string): Answer {
  const known = ifNoneMatch.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  if (known.includes(headers.ETag ?? '') || known.includes('*')) return { status: 304, body: null, headers };
  return { status: 200, body, contentType, headers };
}

/** Made at the first call and kept. */
export function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/** What routes of such texts have in common. */
export const FIXED_ROUTE = {
  method: 'GET',
  scopes: 'none',
  body: { kind: 'ignored' },
  headers: { 'If-None-Match': 'optional' },
} as const;
/** Their answer to who has a copy. */
export const UNCHANGED = { description: 'The copy is still current.', headers: ['ETag'] } as const;
