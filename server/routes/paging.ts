import type { tags } from 'typia';
import type { AuditPosition } from '../../storage/audit/entries.js';
import type { NamePlace } from '../../storage/connections/filtered-connections.js';
import type { Placed } from '../../storage/deliveries/events.js';
import type { ListPlace } from '../../storage/postgres/list-place.js';
import { invalidField } from '../http/answer.js';
import { pathId } from '../http/fields.js';
import { LIMITS } from '../http/limits.js';

/** Where a page begins. */
export interface OffsetQuery {
  /** How many rows to skip; `next_offset` of the page before. */
  offset?: number & tags.Type<'uint32'> & tags.Maximum<typeof LIMITS.offset_rows>;
}

/** Where a page begins, and how much it holds. */
export interface CursorQuery {
  /** `next_cursor` of the page before. */
  cursor?: string & tags.MaxLength<512>;
  /** Rows on a page, 1 to 100; 100 when only `cursor` is given. */
  limit?: number & tags.Type<'uint32'> & tags.Minimum<1> & tags.Maximum<typeof LIMITS.page_rows>;
}

/** Rows that a list reads: one more than a page, to know whether another page exists. */
export const PAGE_AND_ONE = LIMITS.page_rows + 1;

/** The page's rows, and where the next one begins: null when there is none, or beyond the furthest offset (EVT-7). */
export function pageOf<Row extends Placed>(rows: Row[]): { page: Row[]; next_offset: number | null } {
  const next = rows[LIMITS.page_rows]?.place;
  const more = next !== undefined && next <= LIMITS.offset_rows;
  return { page: rows.slice(0, LIMITS.page_rows), next_offset: more ? next : null };
}

/** Opaque to callers: the id after which the next page begins. */
export function cursorOf(id: string): string {
  return Buffer.from(id.replaceAll('-', ''), 'hex').toString('base64url');
}

/** The id in a cursor; throws 400 for what is none. */
export function idOf(cursor: string): string {
  const id = uuidOf(Buffer.from(cursor, 'base64url'));
  if (pathId(id) === undefined || cursorOf(id) !== cursor) throw notACursor(cursor);
  return id;
}

/** The same of a list in order of creation: eight bytes of time before the id. */
export function placeCursor({ created_us, id }: ListPlace): string {
  const time = Buffer.alloc(8);
  time.writeBigInt64BE(BigInt(created_us));
  return Buffer.concat([time, Buffer.from(id.replaceAll('-', ''), 'hex')]).toString('base64url');
}

/** The place in such a cursor; throws 400 for what is none. */
export function placeOf(cursor: string): ListPlace {
  const bytes = Buffer.from(cursor, 'base64url');
  if (bytes.length !== PLACE_bytes) throw notACursor(cursor);
  const place = placeAt(bytes);
  const known = isTime(place.created_us) && pathId(place.id) !== undefined;
  if (!known || placeCursor(place) !== cursor) throw notACursor(cursor);
  return place;
}

/** The same of a follower of the audit log: the transaction in place of the time. */
export function positionCursor({ xact, id }: AuditPosition): string {
  return placeCursor({ created_us: Number(xact), id });
}

/** The position in such a cursor; throws 400 for what is none. */
export function positionOf(cursor: string): AuditPosition {
  const { created_us, id } = placeOf(cursor);
  return { xact: String(created_us), id };
}

/** The same of connections that were looked for by name: the id before the name. */
export function nameCursor({ name, id }: NamePlace): string {
  return Buffer.concat([Buffer.from(id.replaceAll('-', ''), 'hex'), Buffer.from(name)]).toString('base64url');
}

/** The place in such a cursor; throws 400 for what is none. */
export function namePlaceOf(cursor: string): NamePlace {
  const bytes = Buffer.from(cursor, 'base64url');
  const place = { name: bytes.subarray(ID_bytes).toString(), id: uuidOf(bytes.subarray(0, ID_bytes)) };
  const known = pathId(place.id) !== undefined && !place.name.includes('\0');
  if (!known || nameCursor(place) !== cursor) throw notACursor(cursor);
  return place;
}

/** How far a request came that goes through the mailboxes of connections. */
export interface SlicePlace {
  /** The last connection of which all was seen. */
  behind: ListPlace;
  /** The connection that it goes on with, and the last operation of it that was seen. */
  mailbox: string;
  operation: string;
}

/** The same of such a request: the place of the connection before the two ids. */
export function sliceCursor({ behind, mailbox, operation }: SlicePlace): string {
  const parts = [placeCursor(behind), cursorOf(mailbox), cursorOf(operation)];
  return Buffer.concat(parts.map((part) => Buffer.from(part, 'base64url'))).toString('base64url');
}

/** The place in such a cursor; throws 400 for what is none. */
export function slicePlaceOf(cursor: string): SlicePlace {
  const bytes = Buffer.from(cursor, 'base64url');
  const none = () => invalidField('body.cursor', 'next_cursor of the answer before', cursor);
  if (bytes.length !== PLACE_bytes + 2 * ID_bytes) throw none();
  const place: SlicePlace = {
    behind: placeAt(bytes),
    mailbox: uuidOf(bytes.subarray(PLACE_bytes, PLACE_bytes + ID_bytes)),
    operation: uuidOf(bytes.subarray(PLACE_bytes + ID_bytes)),
  };
  if (!isTime(place.behind.created_us) || sliceCursor(place) !== cursor) throw none();
  return place;
}

const placeAt = (bytes: Buffer): ListPlace => ({
  created_us: Number(bytes.readBigInt64BE()),
  id: uuidOf(bytes.subarray(8, PLACE_bytes)),
});

const isTime = (created_us: number) => Number.isSafeInteger(created_us) && created_us >= 0;

const ID_bytes = 16;
const PLACE_bytes = 8 + ID_bytes;

function uuidOf(bytes: Buffer): string {
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

const notACursor = (cursor: string) => invalidField('query.cursor', 'next_cursor of a page', cursor);
