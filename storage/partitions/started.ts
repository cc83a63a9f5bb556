import { MAILBOX, markOf, WAS_OPEN } from '../jobs/mailbox-jobs.js';
import { LIMITS } from '../limits.js';
import type { Sql } from '../postgres/database.js';

/** A mailbox as far as it was looked through. */
interface Looked {
  connection_id: string;
  /** Of the page, those that run or wait for their user. */
  started: string[] | null;
  seen: number;
  last: string | null;
}

/** A page of the operations of each mailbox `m`, from `m.first` on or behind `m.after`. */
const PAGE = `cross join lateral (
    select array_agg(q.id) filter (where q.status in ('running', 'waiting_user')) as started, count(*)::integer as seen,
      (array_agg(q.id order by q.id desc))[1] as last
    from (select o.id, o.status from operation o where o.connection_id = m.id and o.id >= coalesce(m.after, m.first) and o.id is distinct from m.after
      order by o.id limit`;

const BEGIN = `
  with m as materialized (
    select j.id, ${markOf('j.data')} as first, null::uuid as after from ${MAILBOX} j
    where j.name = 'mailbox-' || $1::smallint and j.id > $2::uuid and ${WAS_OPEN} order by j.id limit $3
  )
  select m.id as connection_id, p.started, p.seen, p.last from m ${PAGE} $4) q) p order by m.id`;

const GO_ON = `
  select m.id as connection_id, p.started, p.seen, p.last from unnest($1::uuid[], $2::uuid[]) a(id, after)
    cross join lateral (select a.id, a.after as first, a.after) m ${PAGE} $3) q) p`;

/**
 * What runs or waits in a partition: it is found in the mailboxes that an owner had open since they were made, from their marks on. All that
 * is queued is read for it, page by page, each with its own time limit: no index has the status, because every start and end would pay for it.
 * Index: operation_by_connection.
 */
export async function startedOperations(tx: Sql, partition: number): Promise<string[]> {
  const started: string[] = [];
  const note = (looked: Looked[]) => {
    for (const one of looked) started.push(...(one.started ?? []));
  };
  const page = Math.ceil(LIMITS.recovered_rows / LIMITS.recovered_mailboxes);
  for (let after: string | undefined = '00000000-0000-0000-0000-000000000000'; after !== undefined; ) {
    const params = [partition, after, LIMITS.recovered_mailboxes, page];
    const looked: Looked[] = await tx.query<Looked>('beginStartedOperations', BEGIN, params);
    note(looked);
    let long = looked.filter(({ seen }) => seen === page);
    while (long.length > 0) {
      const rows = Math.ceil(LIMITS.recovered_rows / long.length);
      const next = await tx.query<Looked>('startedOperations', GO_ON, [
        long.map((one) => one.connection_id),
        long.map((one) => one.last),
        rows,
      ]);
      note(next);
      long = next.filter(({ seen }) => seen === rows);
    }
    after = looked.length === LIMITS.recovered_mailboxes ? looked.at(-1)?.connection_id : undefined;
  }
  return started;
}
