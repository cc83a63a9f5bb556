import type { Sql } from '../postgres/database.js';
import { SEALED_COLUMNS } from './sealed-columns.js';

/** With the parts of files, and the one value of the installation. */
const COLUMNS = [
  ...SEALED_COLUMNS.map(({ table, column }) => ({ table, column, id: 'id', value: column })),
  { table: 'operation_file', column: 'bytes', id: 'operation_id', value: 'case when sealed then bytes end' },
  { table: 'installation', column: 'fingerprint_secret_sealed', id: 'id', value: 'fingerprint_secret_sealed' },
];

/** How many values of a column are sealed under one key. */
export interface KeyUsage {
  /** `table.column` */
  column: string;
  /** Null: the value names no key, it was not written by this service. */
  key: string | null;
  rows: number;
}

/** Which keys the stored secrets need. */
export interface SealedUnder {
  usage: KeyUsage[];
  /** False when a table has more rows than were examined: then `rows` are at least so many. */
  complete: boolean;
}

/**
 * Counts what is sealed by the id of its key, without opening anything. Reads the `ends` oldest and as many newest rows of each
 * table, where a key that was taken out too early and one that has just come show first; null reads every row.
 */
export async function sealedUnder(sql: Sql, ends: number | null): Promise<SealedUnder> {
  const usage: KeyUsage[] = [];
  let complete = true;
  for (const column of COLUMNS) {
    const rows = await usageOf(sql, column, ends);
    // Every answer repeats how many rows were examined, also of a table without a sealed value.
    if (ends !== null && (rows[0]?.examined ?? 0) >= 2 * ends) complete = false;
    for (const { key, count } of rows) {
      if (count > 0) usage.push({ column: `${column.table}.${column.column}`, key, rows: count });
    }
  }
  return { usage, complete };
}

function usageOf(sql: Sql, { table, column, id, value }: (typeof COLUMNS)[number], ends: number | null) {
  const examined =
    ends === null
      ? `select ${id} from ${table}`
      : `(select ${id} from ${table} order by ${id} limit $1) union (select ${id} from ${table} order by ${id} desc limit $1)`;
  // `version | id length | key id | …`, as encryption.ts writes it.
  return sql.query<{ key: string | null; count: number; examined: number }>(
    `sealedUnder.${table}.${column}${ends === null ? '.all' : ''}`,
    `with examined as materialized (${examined}), sealed as (
       select case when octet_length(v.value) > 2 and get_byte(v.value, 0) in (1, 2)
         then encode(substring(v.value from 3 for get_byte(v.value, 1)), 'escape') end as key
       from (select ${value} as value from ${table} where ${id} in (select ${id} from examined)) v
       where octet_length(v.value) > 0
     ), counted as (
       select key, count(*) as count from sealed group by key
     )
     select c.key, coalesce(c.count, 0) as count, (select count(*) from examined) as examined
     from (select 1) one left join counted c on true order by c.key`,
    ends === null ? [] : [ends],
  );
}
