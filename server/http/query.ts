import { invalidField } from './answer.js';

/**
 * The query as an object: each key once (HTTP-6). Those named in `numbers` become numbers when they are plain
 * decimals and stay text otherwise, which their type refuses.
 */
export function parseQuery(query: string, numbers: readonly string[]): Record<string, string | number> {
  const values: Record<string, string | number> = Object.create(null);
  for (const [key, value] of new URLSearchParams(query)) {
    if (key in values) throw invalidField(`query.${key}`, 'given once');
    values[key] = numbers.includes(key) && /^[0-9]{1,9}$/.test(value) ? Number(value) : value;
  }
  return values;
}

/** For a route that takes no query. */
export function expectNoQuery(query: string): void {
  if (query === '') return;
  for (const key of new URLSearchParams(query).keys()) throw invalidField(`query.${key}`, 'no such field');
}
