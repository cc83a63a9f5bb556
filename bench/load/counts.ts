import { Latencies } from '../kit/latencies.js';
import type { Answer } from './http.js';
import { LIMITS } from './limits.js';
import type { Kind, KindResult, LoadResult } from './messages.js';

const toResult = (latencies: Latencies): KindResult => ({
  ...latencies.summary,
  distribution: latencies.distribution,
});

/** What a run of the load program has seen, in a memory that hardly grows with it. */
export class Counts {
  answered = 0;
  left_out = 0;
  ended_before = 0;
  readonly woken = new Latencies();
  readonly #startedAt = performance.now();
  readonly #cpu = process.cpuUsage();
  readonly #kinds = new Map<Kind, Latencies>();
  readonly #refused = new Latencies();
  readonly #errors: Record<string, number> = {};
  readonly #timeline: number[] = [];
  #withoutRetryAfter = 0;
  #lastAt = this.#startedAt;

  get elapsed_ms(): number {
    return performance.now() - this.#startedAt;
  }

  good(kind: Kind, since: number): void {
    const now = performance.now();
    this.answered++;
    this.#lastAt = now;
    const latencies = this.#kinds.get(kind) ?? new Latencies();
    this.#kinds.set(kind, latencies);
    latencies.record(now - since);
    const bucket = Math.floor((now - this.#startedAt) / LIMITS.timeline_ms);
    this.#timeline[bucket] = (this.#timeline[bucket] ?? 0) + 1;
  }

  bad({ status, retry_after }: Answer, since: number): void {
    if (status !== 503) this.failed(status === 0 ? 'no answer' : `status ${status}`);
    else {
      this.#refused.record(performance.now() - since);
      if (!retry_after) this.#withoutRetryAfter++;
    }
  }

  failed(what: string): void {
    this.#errors[what] = (this.#errors[what] ?? 0) + 1;
  }

  get result(): LoadResult {
    const { user, system } = process.cpuUsage(this.#cpu);
    return {
      answered: this.answered,
      seconds: (this.#lastAt - this.#startedAt) / 1_000,
      kinds: Object.fromEntries([...this.#kinds].map(([kind, latencies]) => [kind, toResult(latencies)])),
      refused: { ...this.#refused.summary, without_retry_after: this.#withoutRetryAfter },
      errors: this.#errors,
      left_out: this.left_out,
      timeline: Array.from(this.#timeline, (count) => count ?? 0),
      cpu_ms: (user + system) / 1_000,
      ...(this.woken.summary.count > 0 && { woken: toResult(this.woken) }),
      ended_before: this.ended_before,
    };
  }
}
