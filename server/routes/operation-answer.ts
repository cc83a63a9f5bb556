import { randomUUID } from 'node:crypto';
import { capabilityNamed } from '../../actors/capabilities/catalogue.js';
import type { OperationRow } from '../../storage/model/records.js';
import { readFilePart, type StoredFile } from '../../storage/operations/operation-files.js';
import type { Sql } from '../../storage/postgres/database.js';
import { type Answer, json } from '../http/answer.js';
import { type OperationJson, operationJson } from './operation-json.js';

/** Answers one operation. A file that is its result is written into the answer as the client takes it (OPS-14). */
export function operationAnswer(
  db: Sql,
  status: number,
  row: OperationRow,
  headers: Record<string, string> = {},
): Answer {
  return answerWith(db, status, (show) => show(row), headers);
}

/**
 * Answers JSON that shows operations. Where one's result is a stored file, the text is made with a random placeholder, and
 * the file takes its place part by part, as base64.
 */
export function answerWith(
  db: Sql,
  status: number,
  value: (show: (row: OperationRow) => OperationJson) => object,
  headers: Record<string, string> = {},
): Answer {
  const files = new Map<string, StoredFile>();
  const whole = value((row) => {
    const file = storedFile(row);
    if (!file) return operationJson(row);
    const place = randomUUID();
    files.set(place, file);
    return operationJson({ ...row, result: { ...row.result, data_base64: place } });
  });
  if (files.size === 0) return json(status, whole, headers);
  // The group keeps the placeholders between the texts around them.
  const pieces = JSON.stringify(whole)
    .split(new RegExp(`(${[...files.keys()].join('|')})`))
    .map((text) => files.get(text) ?? Buffer.from(text));
  const bytes = pieces.reduce((sum, piece) => sum + (Buffer.isBuffer(piece) ? piece.length : base64(piece.size)), 0);
  return { status, headers, body: { bytes, pieces: () => written(db, pieces) } };
}

/** The file that is this operation's result; undefined for any other result, and for one that holds its bytes itself (simulated). */
function storedFile({ id, capability, status, result, attempts }: OperationRow): StoredFile | undefined {
  if (!capabilityNamed(capability)?.storesFile || status !== 'succeeded' || !result || 'data_base64' in result) return;
  const attempt = attempts.at(-1);
  return attempt && { operationId: id, attemptId: attempt.id, size: Number(result.size) };
}

/** Characters of the base64 text of so many bytes. */
const base64 = (bytes: number): number => Math.ceil(bytes / 3) * 4;

async function* written(db: Sql, pieces: (Buffer | StoredFile)[]): AsyncGenerator<Buffer> {
  for (const piece of pieces) {
    if (Buffer.isBuffer(piece)) {
      yield piece;
      continue;
    }
    for (let part = 0, left = piece.size; left > 0; part++) {
      const bytes = await readFilePart(db, piece, part);
      if (!bytes) throw new Error(`the file of operation ${piece.operationId} is gone`);
      left -= bytes.length;
      yield Buffer.from(bytes.toString('base64'), 'latin1');
    }
  }
}
