import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { signal } from '../../../kit/processes.js';
import { SeededRandom } from '../../../sandbox/data/seeded-random.js';
import { LIMITS } from '../limits.js';

const BACKENDS = `select pid from pg_stat_activity where usename like 'node\\_%'`;

/**
 * Lets some of the nodes' backends run for a few milliseconds at a time, with pauses between, most of them short and some long: as on a machine
 * that has no processor for them. So a statement is paused anywhere, also between what it sees and the row that it changes, and others have
 * changed that when it goes on. Which ones they are changes every second.
 *
 * I1. What was paused goes on, also when the database is killed meanwhile or the run is given up.
 */
export class BackendPauses implements AsyncDisposable {
  readonly #url: string;
  readonly #random: SeededRandom;
  readonly #rounds: Promise<void>;
  #client: pg.Client | undefined;
  #over = false;
  count = 0;

  constructor(databaseUrl: string, seed: number) {
    this.#url = databaseUrl;
    this.#random = new SeededRandom('pauses', seed);
    this.#rounds = this.#keepPausing();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over = true;
    await this.#rounds;
    await this.#client?.end().catch(() => {});
  }

  async #keepPausing(): Promise<void> {
    while (!this.#over) {
      const until = performance.now() + LIMITS.pauses_round_ms;
      const chosen = (await this.#backends()).filter(() => this.#random.chance(LIMITS.paused_share));
      await Promise.all(chosen.map((pid) => this.#pauseNowAndThen(pid, until)));
      await delay(Math.max(0, until - performance.now()));
    }
  }

  async #pauseNowAndThen(pid: number, until: number): Promise<void> {
    while (!this.#over && performance.now() < until) {
      await delay(this.#random.between(1, LIMITS.between_pauses_ms));
      if (!signal(pid, 'SIGSTOP')) return;
      this.count++;
      const [least, most] = this.#random.chance(LIMITS.long_pauses_share)
        ? LIMITS.long_pause_ms
        : LIMITS.short_pause_ms;
      await delay(this.#random.between(least, most));
      signal(pid, 'SIGCONT'); // I1: one that was killed meanwhile takes none
    }
  }

  /** None while the database is away: the next round connects again. */
  async #backends(): Promise<number[]> {
    try {
      const { rows } = await (await this.#connected()).query<{ pid: number }>(BACKENDS);
      return rows.map(({ pid }) => pid);
    } catch {
      void this.#client?.end().catch(() => {});
      this.#client = undefined;
      return [];
    }
  }

  async #connected(): Promise<pg.Client> {
    if (this.#client) return this.#client;
    const client = new pg.Client({
      connectionString: this.#url,
      application_name: 'pauses',
      connectionTimeoutMillis: LIMITS.look_ms,
      query_timeout: LIMITS.look_ms,
    });
    client.on('error', () => {});
    await client.connect();
    this.#client = client;
    return client;
  }
}
