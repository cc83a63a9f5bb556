import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import typia from 'typia';
import { demoReceiver } from '../../server/start/demo-receiver.js';
import { LIMITS } from '../kit/limits.js';
import { startReceiver } from '../kit/receiver.js';
import { reportOf, rows } from '../kit/report.js';
import { defineScenario, type OptionValues, type Report } from '../kit/scenario.js';
import { startService } from '../kit/service.js';
import { TemporaryFolder } from '../kit/temporary-folder.js';

/** What the contract promises (contract: "Limits", delivery attempts), written down once more to be compared with. */
const WAITS_s = [1, 5, 30, 120];
const ATTEMPTS = WAITS_s.length + 1;

const assertCounted = typia.createAssert<{ delivery_counts: { failed: number } }>();

const OPTIONS = {
  deliveries: { means: 'deliveries that fail side by side', default: 20 },
  tolerance_ms: { means: 'how late an attempt may arrive; none may be early', default: 1_000 },
};
type Options = OptionValues<typeof OPTIONS>;

const NOT_MEASURED = [
  'a service that is killed, moved or under load meanwhile: what becomes of the schedule then is tested, not timed',
  'receivers that answer late: a wait begins when an attempt has failed, and here that is at once',
];

/** The whole schedule of deliveries that fail, on the real clock. Two and a half minutes. */
export const schedule = defineScenario({
  name: 'schedule',
  summary: 'the five attempts of failing deliveries and the waits between them, on the real clock (156 s)',
  options: OPTIONS,
  startsService: true,
  async run(options, say) {
    say('starting the service and the receiver');
    await using folder = new TemporaryFolder(join(tmpdir(), 'bench-receiver-'));
    const identity = await demoReceiver(folder.path);
    const arrivals = new Map<string, number[]>();
    let forged = 0;
    const rounds = new Rounds(options.deliveries, say);
    const receiver = await startReceiver({
      ...identity,
      port: 0,
      respond: () => 503,
      onCallback({ deliveryId, verified }) {
        if (!verified) forged++;
        const at = arrivals.get(deliveryId) ?? [];
        arrivals.set(deliveryId, [...at, performance.now()]);
        rounds.arrived(at.length + 1);
      },
    });
    try {
      await using service = await startService({
        CALLBACK_ALLOWED_NETWORKS: `${identity.host}/32`,
        CALLBACK_CA_FILE: identity.caFile,
        LOG_LEVEL: 'error', // every attempt fails here, and each would be a warning
      });
      const { api } = service;
      const [connectionId = ''] = await service.createSimulated(1);
      const id = await api.subscribe(connectionId, receiver.url, identity.secret);
      for (let i = 0; i < options.deliveries; i++) await api.emit(connectionId, { i });
      await rounds.over;
      say(`all have arrived ${ATTEMPTS} times, waiting for one too many`);
      await wait(LIMITS.sixth_attempt_ms);
      const { delivery_counts: counts } = assertCounted((await api.send('GET', `/v1/subscriptions/${id}`)).body);
      return await report(options, [...arrivals.values()], counts.failed, forged);
    } finally {
      await receiver.stop();
    }
  },
});

/** Prints when the attempts of a round have come in; `over` resolves when those of the last round have. */
class Rounds {
  readonly over: Promise<void>;
  readonly #deliveries: number;
  readonly #say: (line: string) => void;
  readonly #counts = new Map<number, number>();
  #end = () => {};
  #startedAt = performance.now();

  constructor(deliveries: number, say: (line: string) => void) {
    this.#deliveries = deliveries;
    this.#say = say;
    this.over = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  arrived(attempt: number): void {
    const count = (this.#counts.get(attempt) ?? 0) + 1;
    this.#counts.set(attempt, count);
    if (attempt === 1 && count === 1) this.#startedAt = performance.now();
    if (count !== this.#deliveries) return;
    const passed_s = ((performance.now() - this.#startedAt) / 1000).toFixed(1);
    const wait_s = WAITS_s[attempt - 1];
    this.#say(`attempt ${attempt} at ${passed_s} s${wait_s ? `, the next one in ${wait_s} s` : ''}`);
    if (attempt === ATTEMPTS) this.#end();
  }
}

function report(options: Options, arrivals: number[][], failed: number, forged: number): Promise<Report> {
  const waits = WAITS_s.map((wait_s, i) => {
    const late_ms = arrivals.map((at) => (at[i + 1] ?? Number.POSITIVE_INFINITY) - (at[i] ?? 0) - wait_s * 1000);
    return { wait_s, earliest_ms: Math.round(Math.min(...late_ms)), latest_ms: Math.round(Math.max(...late_ms)) };
  });
  const faults = [
    ...waits
      .filter(({ earliest_ms, latest_ms }) => earliest_ms < 0 || latest_ms > options.tolerance_ms)
      .map(({ wait_s }) => `the wait of ${wait_s} s is off by more than ${options.tolerance_ms} ms`),
    ...(arrivals.every((at) => at.length === ATTEMPTS) ? [] : [`not every delivery came ${ATTEMPTS} times`]),
    ...(arrivals.length === options.deliveries ? [] : [`${arrivals.length} deliveries came`]),
    ...(failed === options.deliveries ? [] : [`${failed} deliveries are failed`]),
    ...(forged === 0 ? [] : [`${forged} callbacks were not signed, or stale`]),
  ];
  return reportOf({
    scenario: 'schedule',
    options,
    method: 'a receiver that refuses notes when each attempt of a delivery arrives',
    lines: rows([
      ...waits.map(({ wait_s, earliest_ms, latest_ms }): [string, string] => [
        `wait ${wait_s}`,
        `${earliest_ms} to ${latest_ms} ms late`,
      ]),
      ['attempts', `${ATTEMPTS} of each of ${options.deliveries} deliveries, then failed`],
      ['tolerance', `${options.tolerance_ms} ms late, nothing early`],
    ]),
    costs: 'what the service does while it waits would be most of it: two and a half minutes for a few attempts',
    ratios: 'the waits of the contract are the measure',
    sampled: `${arrivals.length} deliveries of ${ATTEMPTS} attempts each, one round`,
    notMeasured: NOT_MEASURED,
    data: { waits },
    faults,
  });
}
