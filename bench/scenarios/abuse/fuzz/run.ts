import { randomBytes } from 'node:crypto';
import { splitCores } from '../../../kit/cores.js';
import { runProgram } from '../../../kit/program.js';
import { number, rows } from '../../../kit/report.js';
import { LIMITS } from '../limits.js';
import { serviceMetrics, unexpectedBetween } from '../service-metrics.js';
import { withAbuseWorld } from '../world.js';
import type { FuzzOrder, FuzzResult, Planted } from './messages.js';
import { furnish } from './tenants.js';

export interface Fuzzed extends FuzzResult {
  seed: number;
  /** Lines of the service's log that hold a planted secret or a key. */
  told: string[];
  /** Lines of it that tell of a failure of the service's own. */
  failures: string[];
  /** 5xx other than 503, as the service counts them. */
  unexpected: number;
}

/** Crafted inputs of one seed to every route for so long, against a service of its own whose log is read. */
export async function fuzz(seed: number, seconds: number, say: (line: string) => void): Promise<Fuzzed> {
  const word = (name: string) => `${name}${randomBytes(8).toString('hex')}`;
  const planted: Planted = { marker: word('marker'), hidden: word('hidden'), sealed: word('sealed') };
  const log = new LogReader([planted.hidden, planted.sealed]);
  // Every line of every request, and no browser: a login on the stand-in network is not what is tried.
  const settings = { LOG_LEVEL: 'debug', BROWSER_PATH: '/bin/false' };
  const cores = splitCores();
  say(`fuzzing for ${seconds} s with seed ${seed}`);
  return withAbuseWorld({ cores, settings, onLog: (line) => log.read(line) }, async ({ service, tenant }) => {
    const victim = await tenant('victim');
    const fuzzer = await tenant('fuzzer');
    const narrow = await tenant('narrow', ['connections:read']);
    for (const { key } of [victim, fuzzer, narrow]) log.watchFor(key);
    const others = await furnish(victim, planted.marker);
    const own = await furnish(fuzzer, 'own');
    const before = await serviceMetrics(service.addresses.metricsUrl);
    const keys = { full: fuzzer.key, narrow: narrow.key };
    const order: FuzzOrder = { url: fuzzer.url, seed, seconds, planted, keys, own, others };
    const result = await runProgram<FuzzResult>(new URL('./fuzzer.js', import.meta.url), order, cores?.client);
    const after = await serviceMetrics(service.addresses.metricsUrl);
    return { ...result, seed, told: log.told, failures: log.failures, unexpected: unexpectedBetween(before, after) };
  });
}

/** Reads a log as it is written, and keeps the lines that should not be in it. */
class LogReader {
  readonly #words: string[];
  readonly told: string[] = [];
  readonly failures: string[] = [];

  constructor(words: string[]) {
    this.#words = words;
  }

  watchFor(word: string): void {
    this.#words.push(word);
  }

  read(line: string): void {
    const shown = line.slice(0, LIMITS.shown_characters);
    if (this.#words.some((word) => line.includes(word))) this.told.push(shown);
    // pino's level of errors.
    else if (/"level":[56]0/.test(line)) this.failures.push(shown);
  }
}

/** What should not have come, a sentence each. */
export function fuzzBreaches({ seed, findings, told, failures, unexpected, health }: Fuzzed): string[] {
  return [
    ...findings.map(
      ({ number: n, what, request, answer }) => `input ${n} of seed ${seed}: ${what}: ${request} → ${answer}`,
    ),
    ...told.map((line) => `the log holds a planted secret: ${line}`),
    ...failures.map((line) => `the log tells of a failure: ${line}`),
    ...(unexpected > 0 ? [`${unexpected} answers of 5xx other than 503, as the service counts them`] : []),
    ...(health.failed > 0 ? [`the service was not healthy ${health.failed} times of ${health.asked}`] : []),
  ];
}

export function fuzzLines(fuzzed: Fuzzed): string[] {
  const { seed, inputs, seconds, statuses, findings, told, failures, health } = fuzzed;
  const counts = Object.entries(statuses).map(
    ([status, count]) => `${number(count)} × ${status === '0' ? 'none' : status}`,
  );
  return rows([
    ['seed', `${seed}, ${number(inputs)} inputs in ${number(seconds, 1)} s`],
    ['answers', counts.join(', ')],
    [
      'findings',
      `${findings.length} answers, ${told.length} lines of the log with a secret, ${failures.length} that tell of a failure`,
    ],
    ['health', `asked ${health.asked} times, ${health.failed} failed, at most ${number(health.longest_ms)} ms`],
  ]);
}
