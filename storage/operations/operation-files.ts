import { ofKeptConnection } from '../model/kept-connection.js';
import type { Sql } from '../postgres/database.js';
import { HELD_ATTEMPT } from '../postgres/held-attempt.js';
import { filePartContext } from '../secrets/sealing.js';
import type { HeldOperation } from './starts.js';

/**
 * Files that are results of operations, in parts (OPS-14). A part is written under the fence of its attempt, by the
 * operation's own row as in `execution.ts`. Parts of an attempt that did not succeed are no file: they are deleted when the
 * attempt ends, or by the operation's next attempt, or with its connection.
 */

/** A file that an operation's successful attempt stored. */
export interface StoredFile {
  operationId: string;
  attemptId: string;
  /** Bytes. */
  size: number;
}

/**
 * Stores part number `part` (from 0) of the attempt's file; the first one deletes what earlier attempts left. It may be
 * stored again when the answer was lost. False when the attempt is no longer held: then nothing was stored. Of a workspace whose store is
 * measured it is added to that, before another measurement (HTTP-27).
 */
export async function storeFilePart(db: Sql, held: HeldOperation, part: number, bytes: Buffer): Promise<boolean> {
  const stored = db.vault.storeBytes(bytes, filePartContext(held.id, held.attemptId, part));
  const rows = await db.query<{ part: number }>(
    'storeFilePart',
    `with ${HELD_ATTEMPT}, left_over as (
       delete from operation_file f using held h where $4::integer = 0 and f.operation_id = h.id and f.attempt_id <> $3
     ), noted as (
       update workspace_stored s set bytes = s.bytes + length($5::bytea), noted = s.noted + length($5::bytea)
       from held h join operation o on o.id = h.id where s.workspace_id = o.workspace_id
     )
     insert into operation_file (operation_id, attempt_id, part, bytes, sealed) select h.id, $3, $4, $5, $6 from held h
     on conflict (operation_id, attempt_id, part) do update set bytes = excluded.bytes, sealed = excluded.sealed
     returning part`,
    [held.id, held.epoch, held.attemptId, part, stored.bytes, stored.sealed],
  );
  return rows.length > 0;
}

/** Deletes what this attempt, which did not succeed, and those before it stored; nothing when it is no longer held. */
export async function dropFileParts(db: Sql, held: HeldOperation): Promise<void> {
  await db.query(
    'dropFileParts',
    `with ${HELD_ATTEMPT} delete from operation_file f using held h where f.operation_id = h.id`,
    [held.id, held.epoch, held.attemptId],
  );
}

/** One part; undefined past the last one, or once the operation's connection is deleted. Throws KeyUnknown when the node lacks its key. */
export async function readFilePart(sql: Sql, file: StoredFile, part: number): Promise<Buffer | undefined> {
  const [row] = await sql.query<{ bytes: Buffer; sealed: boolean }>(
    'readFilePart',
    `select f.bytes, f.sealed from operation_file f join operation o on o.id = f.operation_id
     where f.operation_id = $1 and f.attempt_id = $2 and f.part = $3 and ${ofKeptConnection('o.connection_id')}`,
    [file.operationId, file.attemptId, part],
  );
  return row && sql.vault.openBytes(row, filePartContext(file.operationId, file.attemptId, part));
}
