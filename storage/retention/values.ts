import { LIMITS } from '../limits.js';
import { OPERATION_STEPS } from '../model/transitions.js';
import type { Sql } from '../postgres/database.js';
import { type Age, type Erasure, FIRST_ID } from './erasure.js';
import { eraseFiles } from './operations.js';

/*
 * Inputs and results of operations that ended before; the operations stay. A round goes on behind the place that the last one came to, so that
 * what was erased is not read again. What is passed by (it has not ended, is locked, or is still to be looked for) is noted, and a few of these
 * are looked at again with each slice.
 */

type Value = 'input' | 'result';

/** Of a write whose outcome nobody has looked at the input stays, because it says what to look for. Indexes: operation_pkey, retention_passed_by_look. */
export const eraseInputs: Erasure = (tx, after, age) =>
  erase(tx, 'input', after, age, async (ids) => {
    await tx.query(
      'eraseInputs',
      'update operation set input = null, input_sealed = null, input_erased_at = now() where id = any($1)',
      [ids],
    );
    return true;
  });

/** With their files; why an operation was skipped stays. Indexes: operation_pkey, retention_passed_by_look. */
export const eraseResults: Erasure = (tx, after, age) =>
  erase(tx, 'result', after, age, async (ids) => {
    if ((await eraseFiles(tx, ids)) === LIMITS.removal_file_parts) return false;
    await tx.query(
      'eraseResults',
      `update operation set result = null, result_sealed = null, result_erased_at = now() where id = any($1) and status = 'succeeded'`,
      [ids],
    );
    return true;
  });

/** `work` erases those of its operations, or says that there is more of them than a slice takes: then they come again. */
async function erase(
  tx: Sql,
  value: Value,
  after: string | null,
  age: Age,
  work: (ids: string[]) => Promise<boolean>,
): ReturnType<Erasure> {
  const from = after ?? FIRST_ID;
  const page = await pageBehind(tx, from, age);
  const again = await passedBefore(tx, value);
  const due = await lockDue(tx, value, [...page, ...again], age);
  if (due.length > 0 && !(await work(due))) return { erased: 0, last: from };
  await notePassed(tx, value, [...page, ...again], due);
  const last = page.at(-1) ?? null;
  return { erased: due.length, last: page.length === LIMITS.retention_rows ? last : null, mark: last };
}

async function pageBehind(tx: Sql, from: string, { id }: Age): Promise<string[]> {
  const rows = await tx.query<{ id: string }>(
    'pageOfOldValues',
    'select id from operation where id > $1 and id < $2 order by id limit $3',
    [from, id, LIMITS.retention_rows],
  );
  return rows.map((row) => row.id);
}

/** The longest not looked at first. */
async function passedBefore(tx: Sql, value: Value): Promise<string[]> {
  const rows = await tx.query<{ operation_id: string }>(
    'passedByRetention',
    `select operation_id from retention_passed where class = $1 and looked_at < now() - $2 * interval '1 millisecond'
     order by looked_at limit $3`,
    [value, LIMITS.retention_rest_ms, LIMITS.retention_passed_rows],
  );
  return rows.map(({ operation_id }) => operation_id);
}

const ENDED = OPERATION_STEPS.statuses.filter((status) => OPERATION_STEPS.isTerminal(status));

/** Whose request for a look is under way holds a lock that this one passes by; from here on it finds the input gone. */
async function lockDue(tx: Sql, value: Value, ids: string[], { time }: Age): Promise<string[]> {
  const wanted = value === 'input' ? `and (o.status <> 'outcome_unknown' or ${LOOKED_AT})` : '';
  const rows = await tx.query<{ id: string }>(
    value === 'input' ? 'lockOldInputs' : 'lockOldResults',
    `select o.id from operation o
     where o.id = any($1) and o.status = any($2) and o.updated_at < $3 and o.${value}_erased_at is null ${wanted}
       and not exists (select from look_request l where l.operation_id = o.id)
     order by o.id for update of o skip locked`,
    [ids, ENDED, time],
  );
  return rows.map(({ id }) => id);
}

const LOOKED_AT = '(o.evidence_look is not null or o.evidence_look_sealed is not null)';

/** Of these, those that were not due and still have theirs. */
async function notePassed(tx: Sql, value: Value, ids: string[], due: string[]): Promise<void> {
  const gone = new Set(due);
  const rest = ids.filter((id) => !gone.has(id));
  await tx.query('forgetPassed', 'delete from retention_passed where class = $1 and operation_id = any($2)', [
    value,
    due,
  ]);
  await tx.query(
    value === 'input' ? 'notePassedInputs' : 'notePassedResults',
    `insert into retention_passed (class, operation_id)
     select $1, o.id from operation o where o.id = any($2) and o.${value}_erased_at is null order by o.id
     on conflict (class, operation_id) do update set looked_at = now()`,
    [value, rest],
  );
}
