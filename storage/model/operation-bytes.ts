/** The columns of an operation that may be large: an attachment of an input is stored in it. */
export const LARGE_COLUMNS = {
  input: ['input', 'input_sealed'],
  result: ['result', 'result_sealed', 'evidence_look', 'evidence_look_sealed'],
} as const;

const ALL = Object.values(LARGE_COLUMNS).flat();

/** What these columns of the operation take as they are stored, compressed or not: no large value is read for it. */
export function bytesOf(operation: string, columns: readonly string[] = ALL): string {
  return `(${columns.map((column) => `coalesce(pg_column_size(${operation}.${column}), 0)`).join(' + ')})`;
}

/**
 * The first of these rows that take no more than `limit` bytes together, at least one. Whoever erases rows bounds a slice by them as well:
 * PostgreSQL deletes a large value in pieces of two kilobytes, each a row of its own, and a statement has a second.
 */
export function withinBytes<Row extends { bytes: number }>(rows: readonly Row[], limit: number): Row[] {
  let sum = 0;
  const end = rows.findIndex(({ bytes }, i) => {
    sum += bytes;
    return i > 0 && sum > limit;
  });
  return rows.slice(0, end < 0 ? rows.length : end);
}
