import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { type KeyRing, keyRing, parseEncryptionKeys } from '../../../../storage/secrets/encryption.js';
import { callbackUrlContext } from '../../../../storage/secrets/sealing.js';
import { askUntil } from '../../../kit/eventually.js';
import type { OperationRecord, Rows } from '../evidence.js';
import { LIMITS } from './limits.js';

/**
 * Everything that the checker wants to know of a database, as of one moment. Throws what the database throws. The checker
 * reads for itself, because what it judges are the service's own statements; only what is sealed it opens as the service does, with
 * these keys (`ENCRYPTION_KEYS`). `paused_at`: since when no node has renewed a lease.
 */
export async function readRows(databaseUrl: string, keys: string, paused_at: number): Promise<Rows> {
  const client = new pg.Client({ connectionString: databaseUrl, application_name: 'checker' });
  await client.connect();
  try {
    await untilParked(client);
    await client.query('begin transaction isolation level repeatable read, read only');
    const rows = await readAll(new Reader(client), keyRing(parseEncryptionKeys(keys)), paused_at);
    await client.query('commit');
    return rows;
  } finally {
    await client.end();
  }
}

const UNPARKED = `select 1 from pgboss.job_common j where j.state < 'completed' and (
    j.name like 'delivery-%' and not exists (
      select from delivery d where d.subscription_id = j.id and d.status in ('pending', 'sending'))
    or j.name like 'mailbox-%' and not exists (
      select from operation o where o.connection_id = j.id and o.status in ('queued', 'running', 'waiting_user'))
  ) limit 1`;

/** The job of a subscription or of a mailbox goes a moment after the last in it has ended: waits for that moment, not for more. */
async function untilParked(client: pg.Client): Promise<void> {
  const parked = async () => {
    const { rowCount } = await client.query(UNPARKED);
    if (rowCount) await delay(LIMITS.parking_poll_ms);
    return !rowCount;
  };
  await askUntil(parked, Boolean, { ms: LIMITS.parking_ms });
}

/** Milliseconds since 1970 of a column. */
const ms = (column: string) => `floor(extract(epoch from ${column}) * 1000)::float8`;

async function readAll(reader: Reader, ring: KeyRing, paused_at: number): Promise<Rows> {
  const [moment] = await reader.all<{ at: number }>(`select ${ms('now()')} as at`);
  return {
    read_at: moment?.at ?? Date.now(),
    operations: (
      await reader.pages<StoredOperation>(
        `select id, connection_id, capability, status, error_code, evidence ->> 'fault' as evidence_fault, idempotency_key,
           cancel_requested,
           ${ms('created_at')} as created_at, ${ms('updated_at')} as updated_at, attempts, timeline from operation`,
      )
    ).map(operationOf),
    events: await reader.pages(
      `select id, connection_id, type, ${ms('received_at')} as received_at, provider_event_id from event`,
    ),
    subscriptions: (
      await reader.pages<StoredSubscription>(
        `select s.id, s.connection_id, s.parent_id, s.event_types, s.active, ${ms('s.created_at')} as created_at,
           coalesce(s.callback_url, p.callback_url) as callback_url, coalesce(s.callback_url_sealed, p.callback_url_sealed) as callback_url_sealed
         from subscription s left join subscription p on p.id = s.parent_id`,
        's.id',
      )
    ).map(({ callback_url_sealed: sealed, ...row }) => ({
      ...row,
      callback_url: sealed
        ? ring.open(sealed, callbackUrlContext(row.parent_id ?? row.id)).toString()
        : row.callback_url,
    })),
    deliveries: await reader.pages('select id, subscription_id, event_id, status from delivery'),
    jobs: await reader.all(
      `select name as queue, id, state::text, data ->> 'from' as "from" from pgboss.job_common
       where (name like 'mailbox-%' or name like 'operation-%' or name like 'delivery-%') and state < 'completed'`,
    ),
    file_parts: await reader.all('select distinct operation_id, attempt_id from operation_file'),
    listeners: await reader.all(
      `select connection_id, stream_status, ${ms('heartbeat_at')} as heartbeat_at from listener`,
    ),
    partitions: await reader.all(
      `select id, epoch::int, node_id, node_id is not null and ${ms('lease_until')} > ${paused_at} as owned from partition`,
    ),
  };
}

type StoredSubscription = Rows['subscriptions'][number] & { callback_url_sealed: Buffer | null };

class Reader {
  readonly #client: pg.Client;

  constructor(client: pg.Client) {
    this.#client = client;
  }

  async all<Row extends pg.QueryResultRow>(statement: string): Promise<Row[]> {
    return (await this.#client.query<Row>(statement)).rows;
  }

  /** The rows of a statement without a condition, whose `id` is the primary key: page by page, so that none is too large. */
  async pages<Row extends pg.QueryResultRow & { id: string }>(statement: string, id = 'id'): Promise<Row[]> {
    const pages: Row[][] = [];
    let after = '00000000-0000-0000-0000-000000000000';
    for (;;) {
      const page = await this.#client.query<Row>(`${statement} where ${id} > $1 order by ${id} limit $2`, [
        after,
        LIMITS.page_rows,
      ]);
      pages.push(page.rows);
      const last = page.rows.at(-1);
      if (!last || page.rows.length < LIMITS.page_rows) return pages.flat();
      after = last.id;
    }
  }
}

/** As it is stored: times inside JSON are ISO 8601. */
interface StoredOperation extends Omit<OperationRecord, 'attempts' | 'timeline'> {
  attempts: {
    id: string;
    number: number;
    status: string;
    phase: string;
    started_at: string;
    completed_at: string | null;
  }[];
  timeline: { from: string | null; to: string; reason: string; at: string }[];
}

function operationOf(row: StoredOperation): OperationRecord {
  return {
    ...row,
    attempts: row.attempts.map(({ id, number, status, phase, started_at, completed_at }) => ({
      id,
      number,
      status,
      phase,
      started_at: Date.parse(started_at),
      completed_at: completed_at === null ? null : Date.parse(completed_at),
    })),
    timeline: row.timeline.map(({ from, to, reason, at }) => ({ from, to, reason, at: Date.parse(at) })),
  };
}
