import pg from 'pg';

/** The client's own text form of a value. */
const { prepareValue } = (await import('pg/lib/utils.js' as string)).default as {
  prepareValue(value: unknown): unknown;
};

const { UUID, TEXT, JSONB, BYTEA, INT2, INT4, INT8 } = pg.types.builtins;

/** What an element of a binary array is as text (`storage/postgres/arrays.ts`). */
const ELEMENTS: Record<number, (bytes: Buffer) => string> = {
  [UUID]: (bytes) => bytes.toString('hex'),
  [TEXT]: (bytes) => bytes.toString(),
  [JSONB]: (bytes) => bytes.subarray(1).toString(),
  [BYTEA]: (bytes) => `\\x${bytes.toString('hex')}`,
  [INT2]: (bytes) => String(bytes.readInt16BE()),
  [INT4]: (bytes) => String(bytes.readInt32BE()),
  [INT8]: (bytes) => String(bytes.readBigInt64BE()),
};

/** A parameter as it is sent, as a literal of SQL: `explain execute` takes no others. `type` is that of the parameter. */
export function literal(value: unknown, type: string): string {
  const sent = prepareValue(value);
  if (sent === null || sent === undefined) return 'null';
  if (!Buffer.isBuffer(sent)) return pg.escapeLiteral(String(sent));
  if (!type.endsWith('[]')) return pg.escapeLiteral(`\\x${sent.toString('hex')}`);
  return pg.escapeLiteral(prepareValue(elementsOf(sent)) as string);
}

function elementsOf(array: Buffer): (string | null)[] {
  const read = ELEMENTS[array.readInt32BE(8)];
  if (!read) throw new Error(`an array of type ${array.readInt32BE(8)}`);
  const elements: (string | null)[] = [];
  for (let at = 20; at < array.length; ) {
    const length = array.readInt32BE(at);
    at += 4;
    elements.push(length < 0 ? null : read(array.subarray(at, at + length)));
    at += Math.max(0, length);
  }
  return elements;
}
