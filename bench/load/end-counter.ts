import { eventually } from '../kit/eventually.js';
import { LIMITS } from '../kit/limits.js';
import { readMetrics } from '../kit/metrics.js';
import { withProgress } from '../kit/progress.js';
import { number } from '../kit/report.js';

/** Counts the operations that end at some nodes from its start on, as the nodes themselves do. */
export class EndCounter {
  readonly #metricsUrls: string[];
  readonly #before: number;

  private constructor(metricsUrls: string[], before: number) {
    this.#metricsUrls = metricsUrls;
    this.#before = before;
  }

  static async start(metricsUrls: string[]): Promise<EndCounter> {
    return new EndCounter(metricsUrls, await ended(metricsUrls));
  }

  /** Resolves once so many have ended. */
  async reach(count: number, what: string, say: (line: string) => void): Promise<void> {
    let now = 0;
    const look = async () => {
      now = (await ended(this.#metricsUrls)) - this.#before;
      return now;
    };
    const reached = eventually('all have ended', look, (each) => each >= count, { ms: LIMITS.round_end_ms });
    await withProgress(say, () => `${what}: ${number(now)} of ${number(count)} have ended`, reached);
  }
}

async function ended(metricsUrls: string[]): Promise<number> {
  const counts = await Promise.all(
    metricsUrls.map(async (url) => (await readMetrics(url))('connection_service_operations_finished_total')),
  );
  return counts.reduce((sum, count) => sum + count, 0);
}
