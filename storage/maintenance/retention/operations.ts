import { LIMITS } from '../../limits.js';
import { bytesOf, withinBytes } from '../../model/operation-bytes.js';
import { OPERATION_STEPS } from '../../model/transitions.js';
import type { Sql } from '../../postgres/database.js';
import { type Erasure, FIRST_ID, type PassOver } from './erasure.js';

const ENDED = OPERATION_STEPS.statuses.filter((status) => OPERATION_STEPS.isTerminal(status));

/**
 * Operations that ended before, with their files. Their keys are noted in one round and they are deleted in a later one: a
 * submission that does not find the one finds the other, because it takes less time than is between (CONN-7). What is locked, or is to be
 * looked at, and what has not ended, is passed and looked at again in the next round. Index: operation_pkey.
 */
export const eraseOperations: Erasure = async (tx, after, { id, time }, rows) => {
  const from = after ?? FIRST_ID;
  const read = await tx.query<{ id: string; due: boolean; bytes: number }>('pageOfOldOperations', PAGE, [
    ...[from, id, rows, ENDED, LIMITS.removal_settle_ms, time],
  ]);
  const page = withinBytes(read, LIMITS.removal_bytes);
  const due = page.filter((row) => row.due).map((row) => row.id);
  if (due.length > 0 && (await eraseFiles(tx, due)) === LIMITS.removal_file_parts) return { erased: 0, last: from };
  // A look that was asked for while the rows were being locked is seen here.
  const gone = await tx.query(
    'eraseOperations',
    `delete from operation where id = any($1) and not exists (select from look_request l where l.operation_id = operation.id) returning id`,
    [due],
  );
  return { erased: gone.length, last: page.at(-1)?.id ?? null };
};

const PAGE = `
  with page as materialized (
    select id, workspace_id, status, updated_at, sha256(convert_to(idempotency_key, 'UTF8')) as key_hash
    from operation where id > $1 and id < $2 order by id limit $3
  ), ended as materialized (
    select p.* from page p where p.status = any($4) and p.updated_at < $6 and not exists (select from look_request l where l.operation_id = p.id)
  ), noted as (
    insert into idempotency_tombstone (workspace_id, key_hash)
    select workspace_id, key_hash from ended order by workspace_id, key_hash on conflict do nothing
  ), settled as materialized (
    select o.id, ${bytesOf('o')} as bytes from ended e join operation o on o.id = e.id
    join idempotency_tombstone t on t.workspace_id = e.workspace_id and t.key_hash = e.key_hash
    where t.created_at < now() - $5 * interval '1 millisecond' for update of o skip locked
  )
  select p.id, s.id is not null as due, coalesce(s.bytes, 0) as bytes from page p left join settled s on s.id = p.id order by p.id`;

/** So many parts of their files at most, of up to a megabyte each; gives how many. */
export async function eraseFiles(tx: Sql, operationIds: string[]): Promise<number> {
  const parts = await tx.query(
    'eraseFileParts',
    `delete from operation_file where (operation_id, attempt_id, part) in (
       select operation_id, attempt_id, part from operation_file where operation_id = any($1) limit $2) returning part`,
    [operationIds, LIMITS.removal_file_parts],
  );
  return parts.length;
}

/**
 * Keys whose operations are gone, noted before: such a key is a new one from then on. A slice goes on with the time where the last one ended: what was
 * deleted before it is read by nobody again, however long its entries stay in the index. Index: idempotency_tombstone_by_creation.
 */
export const eraseTombstones: Erasure = async (tx, after, { time }, rows) => {
  const [slice] = await tx.query<{ erased: number; last: string | null }>(
    'eraseTombstones',
    `with gone as (
       delete from idempotency_tombstone where (workspace_id, key_hash) in (
         select workspace_id, key_hash from idempotency_tombstone where created_at >= $1 and created_at < $2
         order by created_at limit $3 for update skip locked)
       returning created_at
     )
     select count(*)::integer as erased, max(created_at)::text as last from gone`,
    [after ?? '-infinity', time, rows],
  );
  return slice?.erased === rows ? slice : { erased: slice?.erased ?? 0, last: null };
};

export const passTombstone: PassOver = async (tx, after, { time }) => {
  const [row] = await tx.query<{ behind: string }>(
    'passTombstone',
    `select (created_at + interval '1 microsecond')::text as behind from idempotency_tombstone
     where created_at >= $1 and created_at < $2 order by created_at limit 1`,
    [after ?? '-infinity', time],
  );
  return row?.behind ?? null;
};
