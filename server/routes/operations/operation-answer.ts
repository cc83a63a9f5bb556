import { capabilityNamed } from '../../../actors/capabilities/catalogue.js';
import { HttpError } from '../../../storage/model/errors.js';
import type { OperationRow } from '../../../storage/model/records.js';
import { isTerminal } from '../../../storage/model/transitions.js';
import { readFilePart, type StoredFile } from '../../../storage/operations/operation-files.js';
import { resultTextOf } from '../../../storage/operations/operations.js';
import type { Sql } from '../../../storage/postgres/database.js';
import { type Answer, isMade } from '../../http/answer.js';
import type { Services } from '../../http/route.js';
import { isKnown, validatorOf } from '../../http/validator.js';
import { evidenceJson } from './evidence-json.js';
import { operationText } from './operation-json.js';

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
  return begunAnswer(answerOf(db, status, operationPieces(db, row), headers));
}

/** The same, once the first part of its file was read. */
async function begunAnswer(answer: Answer): Promise<Answer> {
  const { body } = answer;
  if (!isMade(body)) return answer;
  const rest = body.pieces()[Symbol.asyncIterator]();
  const begun: Buffer[] = [];
  for (const { value, done } of [await rest.next(), await rest.next()]) if (!done) begun.push(value);
  return { ...answer, body: { bytes: body.bytes, pieces: () => continued(begun, rest) } };
}

/**
 * Answers a poll. An operation that has ended changes only by a look, an erasure or the retention of its result: its answer carries a validator,
 * and is 304 to a client that names it in `ifNoneMatch`.
 */
export async function pollAnswer(
  db: Sql,
  row: OperationRow,
  ifNoneMatch: string,
  headers: Record<string, string> = {},
): Promise<Answer> {
  if (!isTerminal(row.status)) return operationAnswer(db, 200, row, headers);
  const pieces = operationPieces(db, row);
  const ETag = validatorOf(...pieces.map((piece) => (typeof piece === 'string' ? piece : piece.attemptId)));
  if (isKnown(ETag, ifNoneMatch)) return { status: 304, body: null, headers: { ...headers, ETag } };
  return begunAnswer(answerOf(db, 200, pieces, { ...headers, ETag }));
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

/** A page of operations, newest first. */
export function operationsAnswer(db: Sql, rows: OperationRow[], next_cursor: string | null): Answer {
  const shown = rows.flatMap((row, i) => (i === 0 ? operationPieces(db, row) : [',', ...operationPieces(db, row)]));
  return answerOf(db, 200, ['{"operations":[', ...shown, `],"next_cursor":${JSON.stringify(next_cursor)}}`], {});
}

/** What a body is made of: JSON text, and files, each of which stands there as base64. */
type Piece = string | StoredFile;

/** The JSON of one operation. When its result is a stored file, the file is written into it: it is what the text ends with. */
function operationPieces(db: Sql, row: OperationRow): Piece[] {
  const result = resultTextOf(db, row);
  const file = result === null ? undefined : storedFile(row, result);
  const text = operationText(row, result, evidenceJson(db, row));
  return file ? [`${text.slice(0, -2)},"data_base64":"`, file, '"}}'] : [text];
}

function answerOf(db: Sql, status: number, pieces: Piece[], headers: Record<string, string>): Answer {
  if (pieces.every((piece) => typeof piece === 'string')) return { status, headers, body: pieces.join('') };
  const parts = pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece));
  const bytes = parts.reduce((sum, part) => sum + (Buffer.isBuffer(part) ? part.length : base64(part.size)), 0);
  return { status, headers, body: { bytes, pieces: () => written(db, parts) } };
}

/** The file that is this operation's result; undefined for any other result, and for one that holds its bytes itself (simulated). */
function storedFile({ id, capability, status, attempts }: OperationRow, resultText: string): StoredFile | undefined {
  if (!capabilityNamed(capability)?.storesFile || status !== 'succeeded') return;
  const result = JSON.parse(resultText) as Record<string, unknown>;
  const attempt = attempts.at(-1);
  if (!attempt || 'data_base64' in result) return;
  return { operationId: id, attemptId: attempt.id, size: Number(result.size) };
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
