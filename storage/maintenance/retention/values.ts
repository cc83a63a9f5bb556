import { LIMITS } from '../../limits.js';
import { bytesOf, LARGE_COLUMNS, withinBytes } from '../../model/operation-bytes.js';
import { OPERATION_STEPS } from '../../model/transitions.js';
import type { Sql } from '../../postgres/database.js';
import { type Age, type Erasure, FIRST_ID, type PassOver, passRowOf } from './erasure.js';
import { eraseFiles } from './operations.js';

/*
 * Inputs and results of operations that ended before, and what a look found before; the operations stay. A round goes on behind the place that the last one came to, so that
 * what was erased is not read again. What is passed by (it has not ended, is locked, or is still to be looked for) is noted, and a few of these
 * are looked at again with each slice.
 */

type Value = 'input' | 'result';

/**
 * Of a write whose outcome nobody has looked at the input stays, because it says what to look for. The parts of an input that errors
 * repeat go with it. Indexes: operation_pkey, retention_passed_by_look.
 */
export const eraseInputs: Erasure = (tx, after, age, rows) =>
  erase(tx, 'input', after, age, rows, async (ids) => {
    await tx.query(
      'eraseInputs',
      `update operation o set input = null, input_sealed = null, input_erased_at = now(),
         error_details = case when jsonb_typeof(error_details -> 'errors') = 'array' then jsonb_set(error_details, '{errors}',
           (select coalesce(jsonb_agg(e.error - 'value' order by e.n), '[]') from jsonb_array_elements(error_details -> 'errors') with ordinality e(error, n)))
           else error_details end
       where id = any($1)`,
      [ids],
    );
    return true;
  });

/**
 * With their files, and of a write whose outcome is unknown what the last look found; why an operation was skipped stays. A look is as old as
 * itself, and notes its operation as passed by, which may be behind the place of the round. Indexes: operation_pkey, retention_passed_by_look.
 */
export const eraseResults: Erasure = (tx, after, age, rows) =>
  erase(tx, 'result', after, age, rows, async (ids) => {
    if ((await eraseFiles(tx, ids)) === LIMITS.removal_file_parts) return false;
    await tx.query(
      'eraseResults',
      `update operation set result = null, result_sealed = null, result_erased_at = case when status = 'succeeded' then now() end,
         evidence_look = null, evidence_look_sealed = null, looked_at = case when status = 'outcome_unknown' then coalesce(looked_at, updated_at) end
       where id = any($1)`,
      [ids],
    );
    return true;
  });

/**
 * `work` erases those of its operations, or says that there is more of them than a slice takes: then they come again. A round is through when
 * nothing is left behind its place, and of what was passed by nothing that it has not looked at.
 */
async function erase(
  tx: Sql,
  value: Value,
  after: string | null,
  age: Age,
  rows: number,
  work: (ids: string[]) => Promise<boolean>,
): ReturnType<Erasure> {
  const from = after ?? FIRST_ID;
  const page = bounded(await pageBehind(tx, value, from, age, rows), rows);
  const most = rows === 1 && page.ids.length === 1 ? 0 : Math.min(rows, LIMITS.retention_passed_rows);
  const again = bounded(await passedBefore(tx, value, age, most), most);
  const ids = [...page.ids, ...again.ids];
  const due = await lockDue(tx, value, ids, age);
  if (due.length > 0 && !(await work(due))) return { erased: 0, last: from };
  await notePassed(tx, value, ids, due);
  const mark = page.ids.at(-1) ?? null;
  return { erased: due.length, last: page.more || again.more ? (mark ?? from) : null, mark };
}

interface Sized {
  id: string;
  bytes: number;
}

/** Those that a slice takes; `more`: there may be others behind them. */
function bounded(rows: Sized[], full: number): { ids: string[]; more: boolean } {
  const taken = withinBytes(rows, LIMITS.removal_bytes);
  return { ids: taken.map(({ id }) => id), more: rows.length === full || taken.length < rows.length };
}

function pageBehind(tx: Sql, value: Value, from: string, { id }: Age, rows: number): Promise<Sized[]> {
  return tx.query<Sized>(
    value === 'input' ? 'pageOfOldInputs' : 'pageOfOldResults',
    `select o.id, ${bytesOf('o', LARGE_COLUMNS[value])} as bytes from operation o where o.id > $1 and o.id < $2 order by o.id limit $3`,
    [from, id, rows],
  );
}

/** The longest not looked at first, each once in a round and not more often than LIMITS.retention_passed_ms. */
function passedBefore(tx: Sql, value: Value, { begun }: Age, rows: number): Promise<Sized[]> {
  return tx.query<Sized>(
    value === 'input' ? 'passedInputs' : 'passedResults',
    `select o.id, ${bytesOf('o', LARGE_COLUMNS[value])} as bytes from (
       select operation_id, looked_at from retention_passed where class = $1 and looked_at < $2::timestamptz - $3 * interval '1 millisecond'
       order by looked_at limit $4) p
     join operation o on o.id = p.operation_id order by p.looked_at`,
    [value, begun, LIMITS.retention_passed_ms, rows],
  );
}

const ENDED = OPERATION_STEPS.statuses.filter((status) => OPERATION_STEPS.isTerminal(status));

/** Whether it still has what is to be erased; what has not ended may come to it. */
const HAS: Record<Value, string> = {
  input: 'o.input_erased_at is null',
  result: `case o.status when 'succeeded' then o.result_erased_at is null
    when 'outcome_unknown' then num_nonnulls(o.evidence_look, o.evidence_look_sealed) > 0 else o.status <> all('{${ENDED}}') end`,
};

/** Whether it may go, beyond that the operation ended before `$2`. */
const MAY_GO: Record<Value, string> = {
  input: `(o.status <> 'outcome_unknown' or num_nonnulls(o.evidence_look, o.evidence_look_sealed, o.looked_at) > 0)`,
  result: 'coalesce(o.looked_at, o.updated_at) < $2',
};

/** Whose request for a look is under way holds a lock that this one passes by; from here on it finds the input gone. */
async function lockDue(tx: Sql, value: Value, ids: string[], { time }: Age): Promise<string[]> {
  const rows = await tx.query<{ id: string }>(
    value === 'input' ? 'lockOldInputs' : 'lockOldResults',
    `select o.id from operation o
     where o.id = any($1) and o.status = any('{${ENDED}}') and o.updated_at < $2 and ${HAS[value]} and ${MAY_GO[value]}
       and not exists (select from look_request l where l.operation_id = o.id)
     order by o.id for update of o skip locked`,
    [ids, time],
  );
  // A look that was asked for while the rows were being locked is not seen by the statement that locks them.
  const asked = await tx.query<{ operation_id: string }>(
    'looksAskedFor',
    'select operation_id from look_request where operation_id = any($1)',
    [rows.map(({ id }) => id)],
  );
  const wanted = new Set(asked.map(({ operation_id }) => operation_id));
  return rows.map(({ id }) => id).filter((id) => !wanted.has(id));
}

/**
 * Of these, those that were not due and still have theirs are noted; the others are forgotten, whoever erased it: they would be the longest
 * not looked at for ever. What was noted anew meanwhile, because a look was stored, stays.
 */
async function notePassed(tx: Sql, value: Value, ids: string[], due: string[]): Promise<void> {
  await tx.query(
    value === 'input' ? 'forgetPassedInputs' : 'forgetPassedResults',
    `delete from retention_passed p using retention_passed seen
     where seen.class = $1 and seen.operation_id = any($2) and not exists (select from operation o where o.id = seen.operation_id and ${HAS[value]})
       and p.class = seen.class and p.operation_id = seen.operation_id and p.looked_at = seen.looked_at`,
    [value, ids],
  );
  const gone = new Set(due);
  await tx.query(
    value === 'input' ? 'notePassedInputs' : 'notePassedResults',
    `insert into retention_passed (class, operation_id)
     select $1, o.id from operation o where o.id = any($2) and ${HAS[value]} order by o.id
     on conflict (class, operation_id) do update set looked_at = now()`,
    [value, ids.filter((id) => !gone.has(id))],
  );
}

/** Is noted, so that it is looked at again as any that was passed by. */
export const passValue =
  (value: Value): PassOver =>
  async (tx, after, age) => {
    const place = await passRowOf('operation')(tx, after, age);
    const [again] = place === null ? await passedBefore(tx, value, age, 1) : [];
    const id = place ?? again?.id;
    if (id === undefined) return null;
    await tx.query(
      value === 'input' ? 'passInput' : 'passResult',
      `insert into retention_passed (class, operation_id) values ($1, $2)
       on conflict (class, operation_id) do update set looked_at = now()`,
      [value, id],
    );
    return place ?? after ?? FIRST_ID;
  };
