import pg from 'pg';
import type { OrphanRecord } from '../evidence.js';
import { LIMITS } from '../limits.js';

/** Live operations without a mailbox, or with one whose mark is above them: nobody would find them after a hand-over or a crash. */
const ORPHANS = `
  select o.id as operation_id, o.connection_id, o.status, j.data ->> 'from' as mark
  from operation o left join pgboss.job_common j on j.name = 'mailbox-' || o.partition and j.id = o.connection_id
  where o.status in ('queued', 'running', 'waiting_user') and (j.id is null or (j.data ->> 'from')::uuid > o.id)`;

type Found = Omit<OrphanRecord, 'from' | 'to'>;

/**
 * Looks every two seconds whether each live operation stands in a mailbox. That holds in every moment that the database shows, whatever
 * has failed. What two looks in a row find, the checker is told.
 */
export class OrphanProbe implements AsyncDisposable {
  readonly #url: string;
  readonly #say: (line: string) => void;
  readonly #found = new Map<string, OrphanRecord>();
  #last = new Map<string, number>();
  #client: pg.Client | undefined;
  readonly #timer: NodeJS.Timeout;
  #looking: Promise<void> | undefined;

  /** `say` tells of each that is found. */
  constructor(databaseUrl: string, say: (line: string) => void) {
    this.#url = databaseUrl;
    this.#say = say;
    this.#timer = setInterval(() => {
      this.#looking ??= this.look().finally(() => {
        this.#looking = undefined;
      });
    }, LIMITS.orphan_poll_ms);
  }

  get orphans(): OrphanRecord[] {
    return [...this.#found.values()];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.#looking;
    await this.#client?.end().catch(() => {});
  }

  /** Also made every `LIMITS.orphan_poll_ms`. Never rejects: while the database is away it finds nothing. */
  async look(): Promise<void> {
    const at = Date.now();
    try {
      const { rows } = await (await this.#connected()).query<Found>(ORPHANS);
      for (const row of rows) {
        const from = this.#last.get(row.operation_id);
        if (from === undefined) continue;
        if (!this.#found.has(row.operation_id))
          this.#say(`operation ${row.operation_id} is ${row.status} in nobody's hand`);
        this.#found.set(row.operation_id, { ...row, from, to: at });
      }
      this.#last = new Map(rows.map(({ operation_id }) => [operation_id, this.#last.get(operation_id) ?? at]));
    } catch {
      // The database is away: the next look connects again.
      void this.#client?.end().catch(() => {});
      this.#client = undefined;
    }
  }

  async #connected(): Promise<pg.Client> {
    if (this.#client) return this.#client;
    const client = new pg.Client({
      connectionString: this.#url,
      application_name: 'orphan probe',
      connectionTimeoutMillis: LIMITS.look_ms,
      query_timeout: LIMITS.look_ms,
    });
    client.on('error', () => {});
    await client.connect();
    this.#client = client;
    return client;
  }
}
