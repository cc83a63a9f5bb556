/**
 * Whether a query, from its `from` on, finds a row: for values and for what stands beside `or`. PostgreSQL may plan an EXISTS there as a hash of
 * all rows of its table, which is cheap while that is small; a session that keeps such a plan reads the whole table at each call once it has
 * grown. This is asked row by row, by an index.
 */
export const findsRow = (query: string): string => `((select true ${query} limit 1) is not null)`;
