import { LIST_START, type ListPlace } from '../../storage/postgres/list-place.js';
import { type Answer, json } from '../http/answer.js';
import { LIMITS } from '../http/limits.js';
import { type CursorQuery, placeCursor, placeOf } from './paging.js';

/** A list in order of creation. */
export interface PlacedList<Row extends ListPlace> {
  /** The field of the answer that holds it. */
  name: string;
  read(after: ListPlace, limit: number): Promise<Row[]>;
  show(row: NoInfer<Row>): object;
}

/**
 * A page of the list, with `next_cursor`, where the query has `limit` or `cursor`. Otherwise all of it, in one order: what is created
 * or removed meanwhile may be in it or not. It is read slice by slice as the client takes it, so that a long list, or a client that
 * reads slowly, holds neither memory nor a connection to the database. When a slice cannot be read, the connection is cut.
 */
export async function listAnswer<Row extends ListPlace>(list: PlacedList<Row>, query: CursorQuery): Promise<Answer> {
  if (query.limit !== undefined || query.cursor !== undefined) return page(list, query);
  const first = await list.read(LIST_START, LIMITS.list_slice_rows);
  if (first.length < LIMITS.list_slice_rows) return json(200, { [list.name]: first.map(list.show) });
  return { status: 200, body: { bytes: null, pieces: () => written(list, first) } };
}

async function page<Row extends ListPlace>(list: PlacedList<Row>, query: CursorQuery): Promise<Answer> {
  const limit = query.limit ?? LIMITS.page_rows;
  const after = query.cursor === undefined ? LIST_START : placeOf(query.cursor);
  const rows = await list.read(after, limit + 1);
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1) : undefined;
  return json(200, { [list.name]: shown.map(list.show), next_cursor: last ? placeCursor(last) : null });
}

async function* written<Row extends ListPlace>(list: PlacedList<Row>, first: Row[]): AsyncGenerator<Buffer> {
  let before = `{${JSON.stringify(list.name)}:[`;
  for (let rows = first; rows.length > 0; ) {
    yield Buffer.from(before + rows.map((row) => JSON.stringify(list.show(row))).join(','));
    before = ',';
    const last = rows.at(-1) as Row;
    rows = rows.length < LIMITS.list_slice_rows ? [] : await list.read(last, LIMITS.list_slice_rows);
  }
  yield Buffer.from(']}');
}
