import {
  claimDueMailboxes,
  deleteMailboxes,
  isDue,
  isMailboxOf,
  MAILBOX,
  moveMarks,
  OWN_VERSION,
  openMailboxJobs,
  VERSION,
} from '../jobs/mailbox-jobs.js';
import type { OwnedPartition } from '../partitions/partitions.js';
import type { Database, Sql } from '../postgres/database.js';
import { LARGE_INPUT_bytes, placeOf } from './submission.js';

/**
 * A connection's operations that have not ended: one job a connection in the queue `mailbox-<partition>`; the job's id is the
 * connection's. Operations themselves are in no queue. The owner of the partition holds the job fetched while it has the mailbox open: it
 * reads what is queued when it opens it, and what it accepts itself afterwards goes to the mailbox in memory.
 *
 *     accepted ─▶ due ──opened──▶ open ──closed, nothing in hand──▶ deleted
 *                  ▲               │
 *                  └───────────────┘  accepted by who has it not open; the owner is gone
 *
 * Its job carries two marks: `from`, the lowest id that an operation of it which has not ended can have, and, while it is due, `new`, the
 * lowest id that its owner has not read. The version of the job's row is the identity of an opening: the owner that opened the mailbox, made
 * it as open, or moved its mark knows that version, and whoever makes it due gives it another one. Invariants:
 * I1 a connection with an operation that is queued, running or waiting has a job, and `from` is not above that operation's id;
 * I2 such an operation is known to the owner that has the mailbox open, or the mailbox is due and `new` is not above its id. So who stores an
 *    operation either is that owner, under its epoch, and finds the job fetched and its mark low enough, or makes the job due in the
 *    same statement (`SUBMIT`);
 * I3 an owner closes no mailbox while it stores an operation for it, and stores none as for an open mailbox until it knows what became of a
 *    closing: neither can see the other;
 * I4 a closing changes the version of the job that its owner knew, or nothing: it decides by what the owner has in hand, and looks at no
 *    operation. A statement that is executed late, or commits late, finds another version.
 *
 * What is queued is found by `operation_by_connection` from the mark on, so it costs as many rows as there are from there, whatever the history.
 */
export interface DueMailbox {
  connection_id: string;
  /** Null when the connection is gone: nothing of it is left to run. */
  workspace_id: string | null;
  /** Read from here when it was not open. */
  from: string;
  /** Read from here when it was. */
  new: string | null;
  /** Of its job, now that it is open. */
  version: string;
  /** An operation of it was found that runs and may be in no hand (`orphans.ts`): the partition is to be taken again. */
  doubt: boolean;
}

const OPEN = `
  with input as (
    select * from unnest($1::smallint[], $2::bigint[]) i(partition, epoch)
  ), fence as materialized (
    select p.id, p.epoch from partition p
    where (p.id, p.epoch) in (select i.partition, i.epoch from input i) order by p.id for key share skip locked
  ), due as materialized (
    select f.id as partition, f.epoch, j.name, j.id, j.data
    from fence f cross join lateral (${claimDueMailboxes('f.id', '$3', '$5::uuid[]')}) j
  ), opened as (
    ${openMailboxJobs('due')}
  )
  select d.partition, d.epoch, d.id as connection_id, c.workspace_id, d.data ->> 'from' as "from", d.data ->> 'new' as new,
    ${OWN_VERSION} as version, d.data ? 'doubt' as doubt, false as passed_by
  from due d left join lateral (select workspace_id from connection where id = d.id limit 1) c on true
  union all
  select f.id, f.epoch, k.connection_id, null, null, null, null, null, true
  from unnest($4::smallint[], $5::uuid[]) k(partition, connection_id) join fence f on f.id = k.partition
    cross join lateral (select * from ${MAILBOX} j where ${isMailboxOf('k.partition', 'k.connection_id')} limit 1) j where ${isDue}`;

/** A partition whose mailboxes are to be opened, but for those of these connections. */
export interface Opening extends OwnedPartition {
  but?: string[];
}

/** The mailboxes of a partition that were opened, and the connections that were left out although theirs are due. */
export interface OpenedMailboxes {
  due: DueMailbox[];
  passedBy: string[];
}

/**
 * Opens up to `limit` mailboxes of each of these partitions that are due, the oldest first; none of one whose epoch is stale. The queued operations are
 * read after it, by `readQueued`: a statement sees nothing that was committed while it waited for a row.
 */
export async function openMailboxes(db: Sql, partitions: Opening[], limit: number): Promise<OpenedMailboxes[]> {
  const but = partitions.flatMap(({ id, but: left = [] }) => left.map((connectionId) => ({ id, connectionId })));
  type Row = DueMailbox & { partition: number; epoch: number; passed_by: boolean };
  const rows = await db.query<Row>('openMailboxes', OPEN, [
    partitions.map((one) => one.id),
    partitions.map((one) => one.epoch),
    limit,
    but.map((one) => one.id),
    but.map((one) => one.connectionId),
  ]);
  const of = Map.groupBy(rows, ({ partition, epoch }) => `${partition} ${epoch}`);
  return partitions.map(({ id, epoch }) => {
    const found = of.get(`${id} ${epoch}`) ?? [];
    const passedBy = found.filter((row) => row.passed_by).map((row) => row.connection_id);
    return { due: found.filter((row) => !row.passed_by), passedBy };
  });
}

/** An operation that waits in a mailbox. */
export interface QueuedOperation {
  connection_id: string;
  id: string;
  /** In the order of acceptance. */
  place: number;
  /** Its input is large, as it is stored. */
  large: boolean;
}

const READ = `
  select m.connection_id, o.id, ${placeOf('o.created_at')} as place,
    coalesce(greatest(pg_column_size(o.input), pg_column_size(o.input_sealed)) > ${LARGE_INPUT_bytes}, false) as large
  from unnest($1::smallint[], $2::uuid[], $3::uuid[], $4::uuid[]) m(partition, connection_id, first, after)
  left join lateral (select (j.data ->> 'new')::uuid as new from ${MAILBOX} j where ${isMailboxOf('m.partition', 'm.connection_id')} limit 1) j on true
  cross join lateral (
    select id, created_at, input, input_sealed from operation q
    where q.connection_id = m.connection_id and q.id >= coalesce(m.after, least(m.first, j.new)) and q.status = 'queued'
      and q.id is distinct from m.after order by q.id limit $5
  ) o
  order by m.connection_id, o.id`;

/** A mailbox that was opened, and the lowest id of what its owner has not read. */
export interface UnreadMailbox {
  partition: number;
  connectionId: string;
  first: string;
}

/**
 * The operations that are queued in these mailboxes, in the order of their connections and ids, and the mailboxes that are `long`: they have
 * `page` operations or more, and none of them is among those. Index: operation_by_connection.
 *
 * What is read of a mailbox is of one moment, and nothing that was queued in it by then is left out, also where it was made due again after it was
 * opened, by an id below `first`: without it, what was accepted later would be taken before it.
 */
export async function readQueued(
  db: Sql,
  mailboxes: UnreadMailbox[],
  page: number,
): Promise<{ queued: QueuedOperation[]; long: UnreadMailbox[] }> {
  const rows = await readPage(db, mailboxes, page);
  const full = lastOfFullPages(rows, page);
  return {
    queued: full.size === 0 ? rows : rows.filter((row) => !full.has(row.connection_id)),
    long: mailboxes.filter(({ connectionId }) => full.has(connectionId)),
  };
}

/** The same of mailboxes that are long: page by page, in a transaction that sees one moment. */
export function readLong(db: Database, mailboxes: UnreadMailbox[], page: number): Promise<QueuedOperation[]> {
  return db.transaction(async (tx) => {
    await tx.query('seeOneMoment', 'set transaction isolation level repeatable read', []);
    const read: QueuedOperation[] = [];
    let next: UnreadPage[] = mailboxes;
    while (next.length > 0) {
      const rows = await readPage(tx, next, page);
      for (const row of rows) read.push(row);
      const full = lastOfFullPages(rows, page);
      next = next.flatMap((one) => {
        const after = full.get(one.connectionId);
        return after === undefined ? [] : [{ ...one, after }];
      });
    }
    return read;
  });
}

/** `after`: the last id of the page before; absent: there was none. */
interface UnreadPage extends UnreadMailbox {
  after?: string;
}

function readPage(sql: Sql, pages: UnreadPage[], rows: number): Promise<QueuedOperation[]> {
  return sql.query<QueuedOperation>('readQueued', READ, [
    pages.map((one) => one.partition),
    pages.map((one) => one.connectionId),
    pages.map((one) => one.first),
    pages.map((one) => one.after ?? null),
    rows,
  ]);
}

/** By connection, the last id of those pages that are full: more may follow. */
function lastOfFullPages(rows: QueuedOperation[], page: number): Map<string, string> {
  const full = [...Map.groupBy(rows, (row) => row.connection_id)].filter(([, of]) => of.length === page);
  return new Map(full.map(([connectionId, of]) => [connectionId, (of.at(-1) as QueuedOperation).id]));
}

/** An open mailbox as its owner knows it. */
export interface OpenMailbox {
  connectionId: string;
  partition: number;
  epoch: number;
  /** The version of its job. */
  version: string;
  /** The lowest id in hand; null: none is. */
  from: string | null;
}

const CLOSE = `
  with input as (
    select * from unnest($1::uuid[], $2::smallint[], $3::bigint[], $4::xid[], $5::uuid[]) i(id, partition, epoch, version, mark)
  ), fence as materialized (
    select p.id, p.epoch from partition p
    where (p.id, p.epoch) in (select i.partition, i.epoch from input i) order by p.id for key share skip locked
  ), seen as materialized (
    select j.name, j.id, i.mark
    from input i join fence f on f.id = i.partition and f.epoch = i.epoch join ${MAILBOX} j on ${isMailboxOf('i.partition', 'i.id')}
    where j.state = 'active' and ${VERSION} = i.version order by j.name, j.id for update of j skip locked
  ), closed as (
    ${deleteMailboxes('seen', 'd.mark is null')}
  ), moved as (
    ${moveMarks('seen', 'd.mark')}
  )
  select i.id, c.id is not null as closed, case when m.id is not null then ${OWN_VERSION} end as moved, found.version
  from input i left join closed c on c.id = i.id left join moved m on m.id = i.id
    left join lateral (select ${VERSION}::text as version from ${MAILBOX} j where ${isMailboxOf('i.partition', 'i.id')} limit 1) found on true`;

/**
 * What became of a mailbox. `closed`: its job is gone. `moved`: its mark, and its job has this version now. `left`: nothing changed, because
 * it was made due meanwhile, its job is locked, or an earlier closing whose answer was lost changed it; `version` is what its job had when
 * the statement began.
 */
export type Closing = { kind: 'closed' } | { kind: 'moved' | 'left'; version: string };

/**
 * Closes the mailboxes that hold nothing, and moves the marks of the others up to what is in hand (I3, I4). In the order of `mailboxes`. While
 * its answer is lost the mailbox may have become any of these: another closing tells.
 */
export async function closeMailboxes(db: Sql, mailboxes: OpenMailbox[]): Promise<Closing[]> {
  if (mailboxes.length === 0) return [];
  type Row = { id: string; closed: boolean; moved: string | null; version: string | null };
  const rows = await db.query<Row>('closeMailboxes', CLOSE, [
    mailboxes.map((one) => one.connectionId),
    mailboxes.map((one) => one.partition),
    mailboxes.map((one) => one.epoch),
    mailboxes.map((one) => one.version),
    mailboxes.map((one) => one.from),
  ]);
  const found = new Map(rows.map((row) => [row.id, row]));
  return mailboxes.map(({ connectionId }): Closing => {
    const { closed = false, moved = null, version = null } = found.get(connectionId) ?? {};
    if (closed || version === null) return { kind: 'closed' };
    return moved === null ? { kind: 'left', version } : { kind: 'moved', version: moved };
  });
}
