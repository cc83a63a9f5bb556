import pg from 'pg';

/**
 * Arrays as parameters of statements, in PostgreSQL's binary form: what a text form has to escape, quote or write in hex goes as it
 * is, and the server parses none of it. For what runs for each operation or delivery; elsewhere the client's own arrays do. Each goes with a
 * cast to its type in the statement (`$1::uuid[]`); null is a null element.
 */

const HEADER_bytes = 12;
const DIMENSION_bytes = 8;
const LENGTH_bytes = 4;
const NULL_LENGTH = -1;

interface Element<T> {
  oid: number;
  bytes(value: T): number;
  write(to: Buffer, value: T, at: number): void;
}

function arrayOf<T>({ oid, bytes, write }: Element<T>, values: readonly (T | null)[]): Buffer {
  let size = values.length === 0 ? HEADER_bytes : HEADER_bytes + DIMENSION_bytes;
  const sizes = values.map((value) => (value === null ? NULL_LENGTH : bytes(value)));
  for (const length of sizes) size += LENGTH_bytes + Math.max(length, 0);
  const to = Buffer.allocUnsafe(size);
  to.writeInt32BE(values.length === 0 ? 0 : 1, 0); // dimensions
  to.writeInt32BE(sizes.includes(NULL_LENGTH) ? 1 : 0, 4);
  to.writeInt32BE(oid, 8);
  if (values.length === 0) return to;
  to.writeInt32BE(values.length, HEADER_bytes);
  to.writeInt32BE(1, HEADER_bytes + 4); // the first index
  let at = HEADER_bytes + DIMENSION_bytes;
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as T | null;
    const length = sizes[i] as number;
    at = to.writeInt32BE(length, at);
    if (value === null) continue;
    write(to, value, at);
    at += length;
  }
  return to;
}

/** Where the two digits of each byte stand in the text of an id, and what stands between them. */
const DIGITS = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34];
const DASHES = [8, 13, 18, 23];
const VALUE = new Map([...'0123456789abcdefABCDEF'].map((digit) => [digit.charCodeAt(0), Number.parseInt(digit, 16)]));
const VALUES = Uint8Array.from({ length: 128 }, (_, code) => VALUE.get(code) ?? 255);

const UUID: Element<string> = {
  oid: pg.types.builtins.UUID,
  bytes: () => 16,
  write(to, id, at) {
    let wrong = id.length === 36 && DASHES.every((at) => id[at] === '-') ? 0 : 255;
    for (let i = 0; i < 16; i++) {
      const digit = DIGITS[i] as number;
      const high = VALUES[id.charCodeAt(digit)] ?? 255;
      const low = VALUES[id.charCodeAt(digit + 1)] ?? 255;
      wrong |= high | low;
      to[at + i] = (high << 4) | low;
    }
    if (wrong > 15) throw new RangeError(`not an id: ${id}`);
  },
};
const TEXT: Element<string> = {
  oid: pg.types.builtins.TEXT,
  bytes: (text) => Buffer.byteLength(text),
  write: (to, text, at) => void to.write(text, at),
};
const JSONB_VERSION = 1;
const JSONB: Element<string> = {
  oid: pg.types.builtins.JSONB,
  bytes: (json) => 1 + Buffer.byteLength(json),
  write: (to, json, at) => void to.write(json, to.writeUInt8(JSONB_VERSION, at)),
};
const BYTEA: Element<Uint8Array> = {
  oid: pg.types.builtins.BYTEA,
  bytes: (value) => value.length,
  write: (to, value, at) => to.set(value, at),
};
const SMALLINT: Element<number> = {
  oid: pg.types.builtins.INT2,
  bytes: () => 2,
  write: (to, value, at) => void to.writeInt16BE(value, at),
};
const INTEGER: Element<number> = {
  oid: pg.types.builtins.INT4,
  bytes: () => 4,
  write: (to, value, at) => void to.writeInt32BE(value, at),
};
const BIGINT: Element<number> = {
  oid: pg.types.builtins.INT8,
  bytes: () => 8,
  write: (to, value, at) => void to.writeBigInt64BE(BigInt(value), at),
};

export const uuids = (values: readonly (string | null)[]): Buffer => arrayOf(UUID, values);
export const texts = (values: readonly (string | null)[]): Buffer => arrayOf(TEXT, values);
/** Of JSON texts. */
export const jsonbs = (values: readonly (string | null)[]): Buffer => arrayOf(JSONB, values);
export const byteas = (values: readonly (Uint8Array | null)[]): Buffer => arrayOf(BYTEA, values);
export const smallints = (values: readonly (number | null)[]): Buffer => arrayOf(SMALLINT, values);
export const integers = (values: readonly (number | null)[]): Buffer => arrayOf(INTEGER, values);
/** Of whole numbers below 2^53. */
export const bigints = (values: readonly (number | null)[]): Buffer => arrayOf(BIGINT, values);
