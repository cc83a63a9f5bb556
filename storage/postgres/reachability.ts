import pg from 'pg';
import { LIMITS } from '../limits.js';
import { Backoff } from '../process/backoff.js';
import { Deadline } from '../process/deadline.js';
import { checkStep, type Steps } from '../process/steps.js';
import { NotSent } from './liveness.js';
import { ServiceClient } from './service-client.js';
import { destroyConnection, StatementOverdue } from './session.js';

/** What is told of an outage, once each. */
export interface OutageEvents {
  began(error: unknown): void;
  ended(lasted_ms: number): void;
}

export interface ReachabilityOptions {
  url: string;
  outage: OutageEvents | undefined;
  /** Connections that nobody uses may be dead without knowing: they are closed. */
  dropIdle(): void;
}

type State =
  | { kind: 'reached' | 'closed' }
  /** `error` is why; `timer` asks next. */
  | { kind: 'away'; error: unknown; since: number; timer: NodeJS.Timeout };

const STEPS: Steps<State['kind']> = {
  reached: ['away', 'closed'],
  away: ['away', 'reached', 'closed'],
  closed: [],
};

/**
 * Whether the database of a pool can be reached, as its statements find it.
 *
 *     reached ─ no connection can be made, or no answer comes ─▶ away ─ it answers again ─▶ reached
 *
 * I1. While it is away, statements fail at once, unsent: nobody waits for what cannot come, and nothing piles up.
 * I2. While it is away, it is asked again and again on a connection of its own, so that it is found again without a statement.
 * I3. An outage is told once when it begins, and once when it ends.
 * I4. A full pool, a single connection that was lost or made slowly while others are answered, is no outage.
 */
export class Reachability {
  readonly #options: ReachabilityOptions;
  #state: State = { kind: 'reached' };
  #answeredAt = Number.NEGATIVE_INFINITY;
  readonly #waiting = new Set<(error: NotSent) => void>();

  constructor(options: ReachabilityOptions) {
    this.#options = options;
  }

  /** Throws `NotSent` while the database is away (I1). */
  check(): void {
    if (this.#state.kind === 'away') throw new NotSent(this.#state.error);
  }

  /** Settles as `work` does; rejects with `NotSent` as soon as the database is away (I1). A later result of `work` goes to `discard`. */
  async unlessAway<T>(work: Promise<T>, discard: (late: T) => void): Promise<T> {
    const turned = Promise.withResolvers<never>();
    // Not one promise for all: what waits on a promise that is never settled is kept for ever.
    this.#waiting.add(turned.reject);
    let lost = false;
    work.then((late) => lost && discard(late)).catch(() => {});
    try {
      return await Promise.race([work, turned.promise]);
    } catch (error) {
      lost = true;
      throw error;
    } finally {
      this.#waiting.delete(turned.reject);
    }
  }

  /** The database answered something. */
  answered(): void {
    this.#answeredAt = performance.now();
    if (this.#state.kind !== 'away') return;
    const { since } = this.#state;
    this.#enter({ kind: 'reached' });
    this.#options.outage?.ended(Math.round(performance.now() - since)); // I3
  }

  /** A statement or a transaction, begun at this time, failed with this. */
  failed(error: unknown, since: number): void {
    const overdue = error instanceof Error && error.cause instanceof StatementOverdue;
    if (overdue && this.#answeredAt < since) this.#lost(error); // I4
  }

  /** No connection could be had, for this reason; it was asked for at this time. */
  notConnected(error: unknown, since: number): void {
    if (!(error instanceof NotSent) || !preventsConnecting(error.cause)) return; // I4
    if (!isTimeout(error.cause) || this.#answeredAt < since) this.#lost(error);
  }

  close(): void {
    if (this.#state.kind !== 'closed') this.#enter({ kind: 'closed' });
  }

  #lost(error: Error): void {
    if (this.#state.kind !== 'reached') return;
    this.#options.outage?.began(error); // I3
    this.#options.dropIdle();
    for (const turnAway of this.#waiting) turnAway(new NotSent(error.cause)); // I1
    const waits = new Backoff({ first_ms: LIMITS.away_probe_ms, cap_ms: LIMITS.away_probe_cap_ms });
    this.#away(error.cause, performance.now(), waits, 0);
  }

  /** I2 */
  #away(error: unknown, since: number, waits: Backoff, wait_ms: number): void {
    const timer = setTimeout(async () => {
      try {
        await probe(this.#options.url);
        this.answered();
      } catch (again) {
        if (this.#state.kind === 'away') this.#away(again, since, waits, waits.next_ms());
      }
    }, wait_ms).unref();
    this.#enter({ kind: 'away', error, since, timer });
  }

  #enter(next: State): void {
    checkStep('the way to the database', STEPS, this.#state.kind, next.kind);
    if (this.#state.kind === 'away') clearTimeout(this.#state.timer);
    this.#state = next;
  }
}

/** False for a pool that is full or closed, and for a server that has no connection left for us. */
function preventsConnecting(cause: unknown): boolean {
  if (cause instanceof pg.DatabaseError) return cause.code !== '53300';
  return cause instanceof Error && !/^(?:timeout exceeded|Cannot use a pool|Client )/.test(cause.message);
}

function isTimeout(cause: unknown): boolean {
  return cause instanceof Error && /timeout/.test(cause.message);
}

async function probe(url: string): Promise<void> {
  const limit_ms = LIMITS.probe_attempt_ms;
  const client = new ServiceClient({
    connectionString: url,
    connectionTimeoutMillis: limit_ms,
    query_timeout: limit_ms,
  });
  const asked = client.connect().then(() => client.query('select 1'));
  try {
    await Deadline.within(limit_ms, asked);
    void client.end().catch(() => {});
  } catch (error) {
    destroyConnection(client);
    throw error;
  }
}
