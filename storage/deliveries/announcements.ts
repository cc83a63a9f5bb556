import { LIMITS } from '../limits.js';
import type { RecordedEventType } from '../model/records.js';
import type { Database, Sql, Transaction } from '../postgres/database.js';
import { findsRow } from '../postgres/finds-row.js';
import { type RecordedEvent, recordEvents } from './events-record.js';

/**
 * What the service itself has to tell (EVT-20): triggers note it in the transaction that makes it true (`announcement` in 0001_schema.sql), and here
 * it becomes an event with its deliveries.
 *
 * I1. An announcement goes in the transaction that records its event: each becomes one event, whoever is killed when.
 * I2. One transaction of the installation does so at a time: those of a connection become events in the order in which they were made.
 * I3. Those of a connection wait while its members are inactive because a disconnect still cancels their deliveries: nobody would hear of them.
 */
interface AnnouncementRow {
  id: string;
  workspace_id: string;
  connection_id: string;
  type: RecordedEventType;
  provider_event_id: string;
  data: Record<string, unknown>;
  traceparent: string | null;
}

/** What one batch came to. */
export interface Told {
  /** Announcements that are gone. */
  announcements: number;
  events: RecordedEvent[];
}

/** Who tells holds it until the commit (I2). */
const TELLER_LOCK = 0x7e11;

// I3. Asked of each row by the key of its connection, whatever the planner expects of connections.
const HEARD = `(
    select c.cancel_through is null or c.deleted_at is not null or not ${findsRow(`
      from subscription s join subscription parent on parent.id = s.parent_id
      where s.connection_id = c.id and not s.active and parent.active`)}
    from connection c where c.id = a.connection_id limit 1) is not false`;

// Two statements, so that each has the plan that its index allows.
const take = (which: string) => `
  delete from announcement where id = any(array(select a.id from announcement a where ${which}${HEARD} order by a.id limit $1))
  returning id, workspace_id, connection_id, type, provider_event_id, data, traceparent`;
const TAKE = take('');
const TAKE_OF_CONNECTION = take('a.connection_id = $2 and ');

/**
 * Turns the oldest announcements, `rows` at most, into events; of one connection where one is given. Undefined when somebody else is at
 * it. What belongs to a connection that was deleted is left out. One alone may take longer than a statement of the pool.
 */
export function tell(db: Database, rows: number, connectionId: string | null = null): Promise<Told | undefined> {
  const statement_ms = rows === 1 ? LIMITS.announcement_alone_ms : undefined;
  return db.transaction(async (tx) => {
    const [teller] = await tx.query<{ held: boolean }>('holdTeller', 'select pg_try_advisory_xact_lock($1) as held', [
      TELLER_LOCK,
    ]);
    if (!teller?.held) return undefined;
    // I1
    const taken =
      connectionId === null
        ? await tx.query<AnnouncementRow>('takeAnnouncements', TAKE, [rows])
        : await tx.query<AnnouncementRow>('takeAnnouncementsOf', TAKE_OF_CONNECTION, [rows, connectionId]);
    taken.sort((a, b) => Number(BigInt(a.id) - BigInt(b.id)));
    return { announcements: taken.length, events: await record(tx, taken) };
  }, statement_ms);
}

/** In one order of workspaces: what is recorded stays locked until the commit, and recorders must not wait for each other. */
async function record(tx: Transaction, taken: AnnouncementRow[]): Promise<RecordedEvent[]> {
  const workspaces = [...Map.groupBy(taken, (row) => row.workspace_id)].sort(([a], [b]) => (a < b ? -1 : 1));
  const events: RecordedEvent[] = [];
  for (const [workspaceId, rows] of workspaces) {
    const told = rows.map((row) => ({
      connectionId: row.connection_id,
      providerEventId: row.provider_event_id,
      type: row.type,
      data: row.data,
      traceparent: row.traceparent,
    }));
    events.push(...(await recordEvents(tx, workspaceId, told)));
  }
  return events;
}

/** How many seconds ago the oldest announcement was made; undefined when nothing is to be told. Index: announcement_pkey. */
export async function oldestAnnouncement_s(sql: Sql): Promise<number | undefined> {
  const [row] = await sql.query<{ age_s: number }>(
    'oldestAnnouncement',
    'select greatest(0, extract(epoch from now() - made_at))::float8 as age_s from announcement order by id limit 1',
  );
  return row?.age_s;
}

/**
 * Connections with announcements, `limit` of them behind `after` in the order of their ids, however many announcements each has. Index:
 * announcement_by_connection.
 */
export async function announcedConnections(sql: Sql, after: string, limit: number): Promise<string[]> {
  const found = await sql.query<{ connection_id: string }>(
    'announcedConnections',
    `with recursive found as (
       (select connection_id, 1 as place from announcement where connection_id > $1 order by connection_id limit 1)
       union all
       select next.connection_id, f.place + 1 from found f cross join lateral (
         select a.connection_id from announcement a where a.connection_id > f.connection_id order by a.connection_id limit 1) next
       where f.place < $2
     )
     select connection_id from found order by connection_id`,
    [after, limit],
  );
  return found.map(({ connection_id }) => connection_id);
}
