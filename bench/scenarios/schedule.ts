import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import typia from 'typia';
import { demoReceiver } from '../../server/start/demo-receiver.js';
import { machine } from '../machine.js';
import { startReceiver } from '../receiver.js';
import type { Report, Scenario } from '../scenario.js';
import { startService } from '../service.js';

interface Options {
  deliveries: number;
  toleranceMs: number;
}

/** What the specification promises (contract: "Limits", delivery attempts), told here on its own. */
const WAITS_s = [1, 5, 30, 120];
const ATTEMPTS = WAITS_s.length + 1;

/** How long a sixth attempt is waited for. */
const QUIET_ms = 3_000;

const NOT_MEASURED = [
  'a service that is killed, moved or under load meanwhile: what becomes of the schedule then is tested, not timed',
  'receivers that answer late: a wait begins when an attempt has failed, and here that is at once',
];

/** The whole schedule of deliveries that fail, on the real clock. Two and a half minutes. */
export const schedule: Scenario = {
  name: 'schedule',
  summary: 'the five attempts of failing deliveries and the waits between them, on the real clock (156 s)',
  options: [
    { flag: '--deliveries', means: 'deliveries that fail side by side', default: 20 },
    { flag: '--tolerance-ms', means: 'how late an attempt may arrive; none may be early', default: 1_000 },
  ],
  async run(given, say) {
    const options = typia.assert<Options>(given);
    say('starting the service and the receiver');
    const dir = await mkdtemp(join(tmpdir(), 'bench-receiver-'));
    const identity = await demoReceiver(dir);
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
        LOG_LEVEL: 'error', // a warning for each attempt that fails is what this asks for
      });
      const call = caller(service.url, service.key);
      const [connectionId] = await service.createSimulated(1);
      const { id } = typia.assert<{ id: string }>(
        await call('POST', `/v1/connections/${connectionId}/subscriptions`, {
          event_types: ['message_received'],
          callback_url: receiver.url,
          secret: identity.secret,
        }),
      );
      for (let i = 0; i < options.deliveries; i++) {
        await call('POST', `/v1/connections/${connectionId}/simulated-events`, {
          type: 'message_received',
          data: { i },
        });
      }
      await rounds.over;
      say(`all have arrived ${ATTEMPTS} times, waiting for one too many`);
      await new Promise((resolve) => setTimeout(resolve, QUIET_ms));
      const { delivery_counts: counts } = typia.assert<{ delivery_counts: { failed: number } }>(
        await call('GET', `/v1/subscriptions/${id}`),
      );
      return await report(options, [...arrivals.values()], counts.failed, forged);
    } finally {
      await receiver.stop();
      await rm(dir, { recursive: true, force: true });
    }
  },
};

/** Says when the attempts of a round have come in, and when the last round has. */
class Rounds {
  readonly over: Promise<unknown>;
  readonly #counts = new Map<number, number>();
  readonly #events = new EventTarget();
  #startedAt = performance.now();

  constructor(
    private readonly deliveries: number,
    private readonly say: (line: string) => void,
  ) {
    this.over = once(this.#events, 'over');
  }

  arrived(attempt: number): void {
    const count = (this.#counts.get(attempt) ?? 0) + 1;
    this.#counts.set(attempt, count);
    if (attempt === 1 && count === 1) this.#startedAt = performance.now();
    if (count !== this.deliveries) return;
    const passed_s = ((performance.now() - this.#startedAt) / 1000).toFixed(1);
    const wait_s = WAITS_s[attempt - 1];
    this.say(`attempt ${attempt} at ${passed_s} s${wait_s ? `, the next one in ${wait_s} s` : ''}`);
    if (attempt === ATTEMPTS) this.#events.dispatchEvent(new Event('over'));
  }
}

function caller(url: string, key: string) {
  return async (method: string, path: string, body?: object): Promise<unknown> => {
    const answer = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  };
}

async function report(options: Options, arrivals: number[][], failed: number, forged: number): Promise<Report> {
  const where = await machine();
  const waits = WAITS_s.map((wait_s, i) => {
    const late_ms = arrivals.map((at) => (at[i + 1] ?? Number.POSITIVE_INFINITY) - (at[i] ?? 0) - wait_s * 1000);
    return { wait_s, earliest_ms: Math.round(Math.min(...late_ms)), latest_ms: Math.round(Math.max(...late_ms)) };
  });
  const faults = [
    ...waits
      .filter(({ earliest_ms, latest_ms }) => earliest_ms < 0 || latest_ms > options.toleranceMs)
      .map(({ wait_s }) => `the wait of ${wait_s} s is off by more than ${options.toleranceMs} ms`),
    ...(arrivals.every((at) => at.length === ATTEMPTS) ? [] : [`not every delivery came ${ATTEMPTS} times`]),
    ...(arrivals.length === options.deliveries ? [] : [`${arrivals.length} deliveries came`]),
    ...(failed === options.deliveries ? [] : [`${failed} deliveries are failed`]),
    ...(forged === 0 ? [] : [`${forged} callbacks were not signed, or stale`]),
  ];
  const text = [
    ...waits.map(
      ({ wait_s, earliest_ms, latest_ms }) => `wait ${String(wait_s).padEnd(4)} ${earliest_ms} to ${latest_ms} ms late`,
    ),
    `attempts  ${ATTEMPTS} of each of ${options.deliveries} deliveries, then failed`,
    `tolerance ${options.toleranceMs} ms late, nothing early`,
    `machine   ${where.machine}`,
    `commit    ${where.commit}`,
    '',
    'not measured:',
    ...NOT_MEASURED.map((line) => `- ${line}`),
  ].join('\n');
  return { text, data: { scenario: 'schedule', options, waits, ...where }, faults };
}
