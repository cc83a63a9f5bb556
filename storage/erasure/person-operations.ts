import { LIMITS } from '../limits.js';
import { eraseFiles } from '../maintenance/retention/operations.js';
import { OPERATION_STEPS } from '../model/transitions.js';
import type { AtRest } from '../model/vault.js';
import type { Transaction } from '../postgres/database.js';
import { findsRow } from '../postgres/finds-row.js';
import { inputContext, resultContext } from '../secrets/sealing.js';
import type { Search, Slice } from './person-slice.js';

interface OperationValues {
  id: string;
  workspace_id: string;
  capability: string;
  status: (typeof OPERATION_STEPS.statuses)[number];
  input: object | null;
  input_sealed: Buffer | null;
  result: object | null;
  result_sealed: Buffer | null;
  asked: boolean;
}

/**
 * Operations that name the person: those that have ended lose their values and stay, the others are counted as remaining.
 * Indexes: operation_pkey, operation_by_workspace.
 */
export async function operationSlice(
  tx: Transaction,
  { fields, named, vault, workspaceId, onErased, after }: Search,
): Promise<Slice> {
  const rows = await tx.query<OperationValues>(
    workspaceId === null ? 'readOperationValues' : 'readOperationValuesOfWorkspace',
    `select o.id, o.workspace_id, o.capability, o.status, o.input, o.input_sealed, o.result, o.result_sealed, ${findsRow('from look_request l where l.operation_id = o.id')} as asked
     from operation o where ${workspaceId === null ? '$3::uuid is null' : 'o.workspace_id = $3'} and o.id > $1 order by o.id limit $2`,
    [after, LIMITS.erasure_rows, workspaceId],
  );
  const open = (plain: object | null, sealed: Buffer | null, context: string) =>
    vault.openValue({ plain, sealed } satisfies AtRest<object>, context);
  const found = rows.filter(
    ({ id, capability, input, input_sealed, result, result_sealed }) =>
      named(fields.input(capability, open(input, input_sealed, inputContext(id)))) ||
      named(fields.result(capability, open(result, result_sealed, resultContext(id)))),
  );
  const ended = found.filter(({ status, asked }) => OPERATION_STEPS.isTerminal(status) && !asked).map(({ id }) => id);
  const slice = {
    read: rows.length,
    last: rows.length === LIMITS.erasure_rows ? (rows.at(-1)?.id ?? null) : null,
    workspaceIds: found.map(({ workspace_id }) => workspace_id),
  };
  if (onErased === null) {
    const running = found.length - ended.length;
    return { ...slice, erased: { operations: ended.length }, remaining: { operations: running } };
  }
  const held = await tx.query<{ id: string }>(
    'holdNamedOperations',
    `select o.id from operation o where o.id = any($1) and not exists (select from look_request l where l.operation_id = o.id)
     order by o.id for update of o skip locked`,
    [ended],
  );
  const ids = held.map(({ id }) => id);
  // While there are many parts of files, a slice takes only those, and comes again.
  if (ids.length > 0 && (await eraseFiles(tx, ids)) === LIMITS.removal_file_parts) {
    return { read: 0, last: after, erased: {}, remaining: {}, workspaceIds: [] };
  }
  // A look that was asked for while the rows were being locked is seen here.
  const gone = await tx.query<{ id: string; workspace_id: string }>(
    'eraseNamedOperations',
    `update operation set input = null, input_sealed = null, input_erased_at = coalesce(input_erased_at, now()), result = null,
       result_sealed = null, result_erased_at = case when status = 'succeeded' then coalesce(result_erased_at, now()) else result_erased_at end,
       evidence = null, evidence_look = null, evidence_look_sealed = null,
       error_details = case when error_details is not null then jsonb_build_object('retryable', error_details -> 'retryable') end
     where id = any($1) and not exists (select from look_request l where l.operation_id = operation.id) returning id, workspace_id`,
    [ids],
  );
  const erased = gone.map(({ id }) => id);
  // Nothing can be looked for any more: it is no longer told as to be looked at.
  await tx.query('forgetNamedUnknown', 'delete from unknown_outcome where operation_id = any($1)', [erased]);
  if (gone.length > 0)
    await onErased(
      tx,
      gone.map(({ workspace_id }) => workspace_id),
    );
  return { ...slice, erased: { operations: gone.length }, remaining: { operations: found.length - gone.length } };
}
