/** Where a row stands in a list in order of creation: its time, in microseconds since 1970 as exact as the row's, and its id. */
export interface ListPlace {
  created_us: number;
  id: string;
}

/** Before every row. */
export const LIST_START: ListPlace = { created_us: 0, id: '00000000-0000-0000-0000-000000000000' };

/** The column of the row's place; `row` is its alias. */
export function placeOfRow(row: string): string {
  return `(extract(epoch from ${row}.created_at) * 1000000)::bigint as created_us`;
}

/** Holds for the rows behind a place, whose parts are the two parameters; an index on (created_at, id) finds them. */
export function isBehind(row: string, created_us: string, id: string): string {
  return `(${row}.created_at, ${row}.id) > (${placeIn(created_us, id)})`;
}

/** The two parameters as time and id. */
export function placeIn(created_us: string, id: string): string {
  return `timestamptz 'epoch' + ${created_us}::bigint * interval '1 microsecond', ${id}::uuid`;
}
