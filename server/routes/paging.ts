import type { tags } from 'typia';
import { LIMITS } from '../http/limits.js';

/** Where a page begins. */
export interface OffsetQuery {
  offset?: number & tags.Type<'uint32'> & tags.Maximum<typeof LIMITS.offset_rows>;
}

/** What a list asks storage for: one row more than a page, to know whether another page exists. */
export const PAGE_AND_ONE = LIMITS.page_rows + 1;

/** The page's rows, and where the next begins: null when there is none, or past what offsets reach (EVT-7). */
export function pageOf<Row>(rows: Row[], offset: number): { page: Row[]; next_offset: number | null } {
  const next = offset + LIMITS.page_rows;
  const more = rows.length > LIMITS.page_rows && next <= LIMITS.offset_rows;
  return { page: rows.slice(0, LIMITS.page_rows), next_offset: more ? next : null };
}
