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

/** What became of a part; `full`: the workspace stores as much as it may. But for the first, nothing was stored. */
export type PartStored = 'stored' | 'not_held' | 'full';

/**
 * Stores part number `part` (from 0) of the attempt's file; the first one deletes what earlier attempts left. It may be
 * stored again when the answer was lost. `bound`: bytes that a workspace without a limit of its own may store, null where none is limited. Of one
 * that is limited the part is added to what it stores, before another measurement (HTTP-27); parts of several files that are stored at once may
 * pass the limit by as many.
 */
export async function storeFilePart(
  db: Sql,
  held: HeldOperation,
  { part, bytes, bound }: { part: number; bytes: Buffer; bound: number | null },
): Promise<PartStored> {
  const stored = db.vault.storeBytes(bytes, filePartContext(held.id, held.attemptId, part));
  const [row] = await db.query<{ held: number; stored: number }>(
    'storeFilePart',
    `with ${HELD_ATTEMPT}, left_over as (
       delete from operation_file f using held h where $4::integer = 0 and f.operation_id = h.id and f.attempt_id <> $3
     ), room as (
       select h.id, o.workspace_id, coalesce(l.value::bigint * 1048576, $7::bigint) as bound, coalesce(s.bytes, 0) as used
       from held h join operation o on o.id = h.id
       left join workspace_limit l on l.workspace_id = o.workspace_id and l.name = 'stored_mib'
       left join workspace_stored s on s.workspace_id = o.workspace_id
     ), fitting as (
       select id, workspace_id, bound from room where bound is null or used + length($5::bytea) <= bound
     ), noted as (
       insert into workspace_stored as s (workspace_id, bytes, noted)
       select workspace_id, length($5::bytea), length($5::bytea) from fitting where bound is not null
       on conflict (workspace_id) do update set bytes = s.bytes + excluded.bytes, noted = s.noted + excluded.noted
     ), stored as (
       insert into operation_file (operation_id, attempt_id, part, bytes, sealed) select id, $3, $4, $5, $6 from fitting
       on conflict (operation_id, attempt_id, part) do update set bytes = excluded.bytes, sealed = excluded.sealed
       returning part
     )
     select (select count(*) from held)::int as held, (select count(*) from stored)::int as stored`,
    [held.id, held.epoch, held.attemptId, part, stored.bytes, stored.sealed, bound],
  );
  if (row?.stored) return 'stored';
  return row?.held ? 'full' : 'not_held';
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
