import t from 'tap';
import { LIMITS } from '../../../server/http/limits.js';
import { PAGE_AND_ONE, pageOf } from '../../../server/routes/paging.js';

/** So many rows of a list, from this offset on. */
const rowsFrom = (place: number, count: number) => Array.from({ length: count }, (_, i) => ({ place: place + i }));

t.test('a page that is full goes on only where a row lies behind it', async (t) => {
  t.strictSame(pageOf(rowsFrom(0, LIMITS.page_rows)), { page: rowsFrom(0, LIMITS.page_rows), next_offset: null });
  t.strictSame(pageOf(rowsFrom(0, PAGE_AND_ONE)), {
    page: rowsFrom(0, LIMITS.page_rows),
    next_offset: LIMITS.page_rows,
  });
});

t.test('the furthest offset is the last that a page leads to', async (t) => {
  const furthest = LIMITS.offset_rows;
  t.equal(pageOf(rowsFrom(furthest - LIMITS.page_rows, PAGE_AND_ONE)).next_offset, furthest);
  t.equal(pageOf(rowsFrom(furthest - LIMITS.page_rows + 1, PAGE_AND_ONE)).next_offset, null);
});
