import { readFile, writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '../../../storage/postgres/database.js';
import { useOf } from '../../kit/process-use.js';
import type { BenchService } from '../../kit/service.js';
import { LIMITS } from './limits.js';

/** What /proc/<pid>/clear_refs takes to forget the peak. */
const RESET_PEAK = '5';

/** Sessions of the service in the database, of all its pools. */
export interface Sessions {
  /** In a statement or a transaction. */
  busy: number;
  /** Of them, the API's own. */
  edge: number;
  open: number;
}

/** The most of everything between its begin and its end. */
export interface Watched {
  sessions: Sessions;
  /** Open files and sockets of the service. */
  handles: number;
}

/** Looks at what the service holds, from outside, again and again until it is ended. */
export class Watch {
  readonly #service: BenchService;
  readonly #db: Database;
  readonly #most: Watched = { sessions: { busy: 0, edge: 0, open: 0 }, handles: 0 };
  readonly #over = new AbortController();
  readonly #loops: Promise<unknown>;

  constructor(service: BenchService, db: Database) {
    this.#service = service;
    this.#db = db;
    this.#loops = Promise.all([
      this.#every(LIMITS.handle_sample_ms, async () => this.#lookAtHandles()),
      this.#every(LIMITS.session_sample_ms, () => this.#lookAtSessions()),
    ]);
    this.#loops.catch(() => {});
  }

  /** Throws when the service or its database was lost meanwhile. */
  async end(): Promise<Watched> {
    this.#over.abort();
    await this.#loops;
    return this.#most;
  }

  async #every(pause_ms: number, look: () => Promise<void>): Promise<void> {
    while (!this.#over.signal.aborted) {
      await look();
      await delay(pause_ms, undefined, { signal: this.#over.signal }).catch(() => {});
    }
  }

  #lookAtHandles(): void {
    const use = useOf(this.#service.pid);
    if (!use) throw new Error('the service has ended');
    this.#most.handles = Math.max(this.#most.handles, use.handles);
  }

  async #lookAtSessions(): Promise<void> {
    const now = await sessionsOf(this.#db);
    const { sessions } = this.#most;
    for (const name of ['busy', 'edge', 'open'] as const) sessions[name] = Math.max(sessions[name], now[name]);
  }
}

/**
 * The most memory that a process held since, in MiB, as the system counts it: no spike is missed, and nothing is read meanwhile. Call
 * what it gives for the figure.
 */
export async function peakMemory(pid: number): Promise<() => Promise<number>> {
  await writeFile(`/proc/${pid}/clear_refs`, RESET_PEAK);
  return async () => {
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    return Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1] ?? 0) / 1_024;
  };
}

/** Of this moment. */
export async function sessionsOf(db: Database): Promise<Sessions> {
  const [row] = await db.query<Sessions>(
    'abuseSessions',
    `select count(*) filter (where state <> 'idle')::int as busy,
       count(*) filter (where state <> 'idle' and application_name = 'connection-service edge')::int as edge,
       count(*)::int as open
     from pg_stat_activity where datname = current_database() and application_name like 'connection-service%'
       and application_name <> 'connection-service bus' and backend_type = 'client backend'`,
  );
  return row ?? { busy: 0, edge: 0, open: 0 };
}

/** Milliseconds until the API's sessions are at work no more than before, some looks in a row; null: they were not in time. */
export async function sessionsBack(db: Database, before: Sessions): Promise<number | null> {
  const startedAt = performance.now();
  let calmSince = startedAt;
  for (let calm = 0; performance.now() - startedAt < LIMITS.sessions_back_ms; ) {
    const { edge } = await sessionsOf(db);
    calm = edge <= Math.max(1, before.edge) ? calm + 1 : 0;
    if (calm === 0) calmSince = performance.now();
    if (calm >= LIMITS.calm_samples) return calmSince - startedAt;
    await delay(LIMITS.session_sample_ms);
  }
  return null;
}

export interface Left {
  operations: number;
  deliveries: number;
}

/** What of a workspace has not ended. */
async function leftOf(db: Database, workspaceId: string): Promise<Left> {
  const [row] = await db.query<Left>(
    'abuseLeft',
    `select
       (select count(*)::int from operation where workspace_id = $1 and status in ('queued', 'running', 'waiting_user')) as operations,
       (select count(*)::int from delivery where workspace_id = $1 and status in ('pending', 'sending')) as deliveries`,
    [workspaceId],
  );
  return row ?? { operations: 0, deliveries: 0 };
}

/** Waits until nothing of a workspace is under way. Gives what is after all, and how long it took. */
export async function settled(db: Database, workspaceId: string): Promise<Left & { seconds: number }> {
  const startedAt = performance.now();
  for (;;) {
    const left = await leftOf(db, workspaceId);
    const took_ms = performance.now() - startedAt;
    if (left.operations + left.deliveries === 0 || took_ms > LIMITS.settle_ms)
      return { ...left, seconds: took_ms / 1_000 };
    await delay(LIMITS.settle_poll_ms);
  }
}
