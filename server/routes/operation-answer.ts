import { randomUUID } from 'node:crypto';
import { capabilityNamed } from '../../actors/capabilities/catalogue.js';
import { HttpError } from '../../storage/model/errors.js';
import type { OperationRow } from '../../storage/model/records.js';
import { readFilePart, type StoredFile } from '../../storage/operations/operation-files.js';
import { resultOf } from '../../storage/operations/operations.js';
import type { Sql } from '../../storage/postgres/database.js';
import { type Answer, json } from '../http/answer.js';
import type { Services } from '../http/route.js';
import { evidenceJson } from './evidence-json.js';
import { type OperationJson, operationJson } from './operation-json.js';

/**
 * Answers one operation. A file that is its result is written into the answer as the client takes it (OPS-14). Its first part is read
 * before the answer begins: throws 404 when the connection has been deleted by then.
 */
export async function operationAnswer(
  db: Sql,
  status: number,
  row: OperationRow,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const answer = answerWith(db, status, (show) => show(row), headers);
  const { body } = answer;
  if (body === null || typeof body === 'string') return answer;
  const rest = body.pieces()[Symbol.asyncIterator]();
  const begun: Buffer[] = [];
  for (const { value, done } of [await rest.next(), await rest.next()]) if (!done) begun.push(value);
  return { ...answer, body: { bytes: body.bytes, pieces: () => continued(begun, rest) } };
}

/** The operation as it is now. Throws 404 when it, or its connection, was deleted meanwhile. */
export async function answerAsItIs({ db, load }: Pick<Services, 'db' | 'load'>, id: string): Promise<Answer> {
  const operation = await load.operation(id);
  if (!operation) throw new HttpError('not_found');
  return operationAnswer(db, 200, operation);
}

async function* continued(begun: Buffer[], rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  yield* begun;
  yield* { [Symbol.asyncIterator]: () => rest };
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
    const result = resultOf(db, row);
    const file = storedFile(row, result);
    const evidence = evidenceJson(db, row);
    if (!file) return operationJson(row, result, evidence);
    const place = randomUUID();
    files.set(place, file);
    return operationJson(row, { ...result, data_base64: place }, evidence);
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
function storedFile(
  { id, capability, status, attempts }: OperationRow,
  result: Record<string, unknown> | null,
): StoredFile | undefined {
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
      if (!bytes) throw new HttpError('not_found', `operation ${piece.operationId} was deleted meanwhile`);
      left -= bytes.length;
      yield Buffer.from(bytes.toString('base64'), 'latin1');
    }
  }
}
