import pg from 'pg';
import type { Sql } from '../../../storage/postgres/database.js';

/**
 * What a statement of a node stands still at, between the moment that it sees and the rows that it locks: a row policy on `partition`, which
 * waits for a lock of the tester where the transaction asks for it. Nobody else's statement waits.
 */
const POLICY = `
  create function schedule_gate() returns boolean language plpgsql volatile as $$
    begin
      if coalesce(current_setting('schedule.gate', true), '') <> '' then
        perform pg_advisory_xact_lock_shared(current_setting('schedule.gate')::bigint);
      end if;
      return true;
    end $$;
  create policy schedule_gate on partition using (schedule_gate()) with check (true);
  alter table partition enable row level security;
  alter table partition force row level security`;

/** The gates of a database, and who waits for what in it. */
export class Gates {
  readonly #tester: pg.Client;
  readonly #closed = new Set<number>();
  #last = 0;

  private constructor(tester: pg.Client) {
    this.#tester = tester;
  }

  static async open(url: string): Promise<Gates> {
    const tester = new pg.Client({ connectionString: url, application_name: 'schedules: the tester' });
    await tester.connect();
    await tester.query(POLICY);
    return new Gates(tester);
  }

  /** The next statement of the transaction stands still; what is returned lets it go on. */
  async close(tx: Sql): Promise<() => Promise<void>> {
    const key = ++this.#last;
    await this.#tester.query('select pg_advisory_lock($1)', [key]);
    this.#closed.add(key);
    await tx.query('closeGate', `select set_config('schedule.gate', $1, true)`, [String(key)]);
    return () => this.#open(key);
  }

  async #open(key: number): Promise<void> {
    if (!this.#closed.delete(key)) return;
    await this.#tester.query('select pg_advisory_unlock($1)', [key]);
  }

  /** Lets everything go on. */
  async openAll(): Promise<void> {
    for (const key of [...this.#closed]) await this.#open(key);
  }

  /** How many backends of the database wait for a lock. */
  async waiting(): Promise<number> {
    const { rows } = await this.#tester.query<{ waiting: number }>({
      name: 'waiting',
      text: `select count(distinct l.pid)::int as waiting from pg_locks l join pg_stat_activity a on a.pid = l.pid
             where not l.granted and a.datname = current_database()`,
    });
    return rows[0]?.waiting ?? 0;
  }

  async end(): Promise<void> {
    await this.#tester.end();
  }
}
