import {
  type FetchedJob,
  fetchedJobs,
  type Held,
  type OpenAttempt,
  openAttempts,
  putBackStrays,
  recoverStrays,
} from '../../storage/deliveries/strays.js';
import type { Logger } from '../../storage/log/log.js';
import type { Database } from '../../storage/postgres/database.js';
import { LIMITS } from './limits.js';

export interface DeliverySweepOptions {
  db: Database;
  log: Logger;
  /** The partitions to sweep, under the epochs this thread holds them under now. */
  partitions: () => Held[];
  /** What this thread has in hand. */
  inHand: { holdsJob(subscription: string): boolean; inHand: ReadonlySet<string> };
  /** Something of the partition was put right, and may be due. */
  repaired: (partition: number) => void;
}

/** What was put right since the thread started. */
export type Repairs = Record<
  /** Fetched jobs of subscriptions that were not here. */
  | 'job'
  /** Deliveries that were `sending` with an attempt that was not here. */
  | 'attempt',
  number
>;

/**
 * Compares what this thread owns with what it has in hand, some partitions a turn, and puts right what disagrees: a statement whose answer was
 * lost, or that came late, leaves a fetched job or a started delivery that nobody works on (EVT-16).
 *
 * I1 a turn reads a bounded number of rows, whatever the queues hold: jobs by pages, each turn one page of each of its partitions;
 * I2 what disagrees is put right when it still does a turn later, so that an answer under way is no stray;
 * I3 what is put right is fenced by the partition's epoch, and changes nothing that has changed since it was seen.
 */
export class DeliverySweep {
  readonly repairs: Repairs = { job: 0, attempt: 0 };
  readonly #options: DeliverySweepOptions;
  /** Of a partition whose queue is longer than a page: where its next page begins. */
  readonly #cursors = new Map<number, string>();
  #jobs: FetchedJob[] = [];
  #attempts: OpenAttempt[] = [];
  #last = -1;
  #turn: Promise<void> | undefined;

  constructor(options: DeliverySweepOptions) {
    this.#options = options;
  }

  /** One turn; joins the one that is under way. Never rejects. */
  turn(): Promise<void> {
    this.#turn ??= this.#sweep().finally(() => {
      this.#turn = undefined;
    });
    return this.#turn;
  }

  /** Resolves when no turn is under way. */
  async settled(): Promise<void> {
    await this.#turn;
  }

  async #sweep(): Promise<void> {
    const { log, partitions } = this.#options;
    const held = partitions();
    try {
      if (held.length === 0) return;
      await this.#repair(held); // I2
      await this.#look(held);
    } catch (error) {
      log.warn({ err: error }, 'deliveries: a sweep failed, the next one tries again');
    }
  }

  async #look(held: Held[]): Promise<void> {
    const { db, inHand } = this.#options;
    const chosen = this.#choose(held);
    const queues = chosen.map(({ id, epoch }) => ({ partition: id, epoch, after: this.#cursors.get(id) }));
    const { jobs, cursors } = await fetchedJobs(db, queues, LIMITS.sweep_jobs); // I1
    for (const { partition, last } of cursors) {
      if (last === null) this.#cursors.delete(partition);
      else this.#cursors.set(partition, last);
    }
    const ids = chosen.map(({ id }) => id);
    const open = await openAttempts(db, ids, [...inHand.inHand], LIMITS.sweep_attempts);
    this.#jobs = jobs.filter(({ id }) => !inHand.holdsJob(id));
    this.#attempts = open;
  }

  /** The partitions of this turn, after those of the last one. */
  #choose(held: Held[]): Held[] {
    const ordered = [...held].sort((a, b) => a.id - b.id);
    const first = Math.max(
      0,
      ordered.findIndex(({ id }) => id > this.#last),
    );
    const chosen = [...ordered.slice(first), ...ordered.slice(0, first)].slice(0, LIMITS.sweep_partitions);
    this.#last = chosen.at(-1)?.id ?? -1;
    return chosen;
  }

  async #repair(held: Held[]): Promise<void> {
    const { db, inHand, log, repaired } = this.#options;
    const [seenJobs, seenAttempts] = [this.#jobs, this.#attempts];
    this.#jobs = [];
    this.#attempts = [];
    const attempts = seenAttempts.filter(({ attempt_id }) => attempt_id === null || !inHand.inHand.has(attempt_id));
    const jobs = seenJobs.filter(({ id }) => !inHand.holdsJob(id));
    if (jobs.length + attempts.length === 0) return;
    const recovered = attempts.length === 0 ? [] : await recoverStrays(db, held, attempts); // I3
    const putBack = jobs.length === 0 ? [] : await putBackStrays(db, held, jobs); // I3
    if (recovered.length + putBack.length === 0) return;
    this.repairs.attempt += recovered.length;
    this.repairs.job += putBack.length;
    const partitions = [...new Set([...jobs, ...attempts].map(({ partition }) => partition))];
    log.warn(
      { jobs: putBack.length, attempts: recovered.length, partitions, delivery_id: recovered[0] },
      'deliveries that nobody was working on are due again',
    );
    for (const partition of partitions) repaired(partition);
  }
}
