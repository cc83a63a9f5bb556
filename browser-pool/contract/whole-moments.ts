/**
 * The page of messages, newest first, that a client can go on from by the time of its oldest: it ends between two moments, never within one, whose
 * rest would be lost. Of a moment with more messages than `count` it has all. `rows` holds a row past the page, or all there are.
 */
export function wholeMoments<Row>(rows: readonly Row[], count: number, momentOf: (row: Row) => number | null): Row[] {
  const next = rows[count];
  const last = rows[count - 1];
  if (!next || !last || momentOf(next) !== momentOf(last)) return rows.slice(0, count);
  const cut = momentOf(next);
  const from = rows.findIndex((row) => momentOf(row) === cut);
  if (from > 0) return rows.slice(0, from);
  const to = rows.findIndex((row) => momentOf(row) !== cut);
  return rows.slice(0, to < 0 ? rows.length : to);
}
