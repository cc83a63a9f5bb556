import { withoutTriggers } from './triggers.js';

/** True when every word of the keywords occurs in the lower-case text. Triggers are not looked for. */
export function matcher(keywords: string | undefined): (text: string) => boolean {
  const wanted = withoutTriggers(keywords ?? '')
    .toLowerCase()
    .split(/\s+/)
    .filter(Boolean);
  return (text) => wanted.every((word) => text.includes(word));
}

/** True when a value contains the text, in any case. */
export function contains(value: string, text: string): boolean {
  return value.toLowerCase().includes(withoutTriggers(text).trim().toLowerCase());
}

/** A test a row must pass, by filter. */
export type Criteria<Filters, Row> = {
  [Key in keyof Filters]-?: (wanted: NonNullable<Filters[Key]>) => (row: Row) => boolean;
};

/** The test that all filters make together. Blank texts select nothing. */
export function allOf<Filters extends object, Row>(
  criteria: Criteria<Filters, Row>,
  filters: Filters = {} as Filters,
): (row: Row) => boolean {
  const tests: ((row: Row) => boolean)[] = [];
  for (const key in filters) {
    const wanted = filters[key];
    if (wanted === undefined || wanted === null || (typeof wanted === 'string' && wanted.trim() === '')) continue;
    tests.push(criteria[key](wanted));
  }
  return (row) => tests.every((test) => test(row));
}

/** At most `count` rows that pass, from the `start`-th on; looks no further than it must. */
export function page<Row>(rows: Iterable<Row>, test: (row: Row) => boolean, start: number, count: number): Row[] {
  const found: Row[] = [];
  let skipped = 0;
  for (const row of rows) {
    if (!test(row)) continue;
    if (skipped < start) skipped++;
    else if (found.push(row) === count) break;
  }
  return found;
}
