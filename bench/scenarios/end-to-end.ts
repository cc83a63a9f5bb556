import { Meter } from '../kit/cost/meter.js';
import { number, reportOf, rows, spreadText } from '../kit/report.js';
import { defineScenario, type OptionValues, type Report } from '../kit/scenario.js';
import { type BenchService, startService } from '../kit/service.js';
import { type Spread, spreadOf } from '../kit/spread.js';
import { WORK, type WorkKind, workKinds } from '../kit/work.js';
import { plainRuns } from '../load/end-to-end-baseline.js';
import type { LoadOrder } from '../load/messages.js';
import { faultsAmong } from '../load/round.js';
import { roundPlots, summaryLines, summaryOf } from '../load/rounds.js';
import { type EndRound, runToEnd } from '../load/run-to-end.js';

const OPTIONS = {
  seconds: { means: 'how long a round submits; it lasts until all has ended', default: 10, fraction: true },
  rounds: { means: 'rounds of each kind and of the baseline, in turns', default: 3 },
  kind: { means: 'what is run: read, write or both', default: 'both' },
  connections: { means: 'connections of the service that the operations are spread over', default: 256 },
  clients: { means: 'HTTP connections of the client, one request at a time each', default: 64 },
  mailboxClients: { means: 'the same where all operations are of one connection', default: 8 },
  warmup: { means: 'seconds of each kind before measuring', default: 3, fraction: true },
  baselineConnections: { means: 'PostgreSQL connections of the baseline', default: 32 },
};
type Options = OptionValues<typeof OPTIONS>;

const METHOD =
  'submitted in a closed loop, then waited for; the rate is what ended, from the first acceptance to the last end, as the rows tell';
const NOT_MEASURED = [
  'browsers and the provider: the connections are simulated',
  'callbacks, polling and reads: nobody asks for the operations that end',
  'a network: client, service and PostgreSQL share this machine, so the client costs the service cores',
  'what writes cause elsewhere: the recipient is no connection of the workspace, so no events are recorded',
];

/** How many operations a second go all the way, and what each costs. */
export const endToEnd = defineScenario({
  name: 'end-to-end',
  summary: 'operations a second from submission to their end, reads and writes, against single-row transactions',
  options: OPTIONS,
  startsService: true,
  async run(options, say) {
    const kinds = workKinds(options.kind);
    say('starting the service');
    await using service = await startService();
    const connectionIds = await service.createSimulated(options.connections);
    return await service.withDatabase(async (url, db) => {
      const measured = {
        metricsUrls: [service.addresses.metricsUrl],
        db,
        meter: await Meter.open([service.pid], db),
      };
      const measurements = measurementsOf(kinds, options, connectionIds);
      const run = (one: Measurement, name: string, seconds: number) =>
        runToEnd(`${one.name}, ${name}`, measured, orderOf(service, one, `${one.name} ${name}`, seconds), say);
      for (const one of measurements) await run(one, 'warmup', options.warmup);
      const rounds = new Map<string, EndRound[]>(measurements.map(({ name }) => [name, []]));
      const baseline: number[] = [];
      for (let round = 1; round <= options.rounds; round++) {
        for (const one of measurements) rounds.get(one.name)?.push(await run(one, `round ${round}`, options.seconds));
        say(`baseline, round ${round}`);
        baseline.push(await plainRuns(url, options.seconds, options.baselineConnections));
      }
      return report(options, rounds, spreadOf(baseline));
    });
  },
});

/** One kind of operations, on these connections. */
interface Measurement {
  name: string;
  kind: WorkKind;
  connectionIds: string[];
  clients: number;
}

function measurementsOf(
  kinds: WorkKind[],
  { clients, mailboxClients }: Options,
  connectionIds: string[],
): Measurement[] {
  return [
    ...kinds.map((one) => ({ name: one, kind: one, connectionIds, clients })),
    { name: 'mailbox', kind: kinds[0] as WorkKind, connectionIds: connectionIds.slice(0, 1), clients: mailboxClients },
  ];
}

function orderOf(service: BenchService, one: Measurement, run: string, seconds: number): LoadOrder {
  return {
    ...{ urls: [service.addresses.url], key: service.key, run, seconds },
    ...{ kinds: ['submit'], body: JSON.stringify(WORK[one.kind]), operationIds: [] },
    ...{ connectionIds: one.connectionIds, clients: one.clients },
  };
}

const TITLES: Record<string, string> = {
  read: 'read, many connections',
  write: 'write, many connections',
  mailbox: "one connection's mailbox",
};

function report(options: Options, rounds: Map<string, EndRound[]>, baseline: Spread): Promise<Report> {
  const found = [...rounds].map(([name, all]) => {
    const summary = summaryOf(all);
    return { name, all, summary, ratio: summary.per_second.median / baseline.median };
  });
  const [first] = found;
  const faults = found.flatMap(({ name, all }) => all.flatMap((round) => faultsOf(name, round)));
  return reportOf({
    scenario: 'end-to-end',
    options,
    method: METHOD,
    lines: [
      ...found.flatMap(({ name, all, summary }) => [
        `${TITLES[name]}:`,
        ...summaryLines(summary, 'ends'),
        ...rows([['refused', all.flatMap(({ errors }) => errors).join(', ') || 'nothing']]),
        '',
      ]),
      ...rows([['baseline', `${spreadText(baseline, 'operations/s')}, each three transactions of one row`]]),
    ],
    costs: Object.fromEntries(found.map(({ name, summary }) => [TITLES[name] ?? name, summary])),
    ratios: found.map(
      ({ name, ratio }) => `${number(ratio, 2)} ends for each operation of the baseline: ${TITLES[name]}`,
    ),
    notMeasured: NOT_MEASURED,
    data: {
      baseline,
      measured: Object.fromEntries(found.map(({ name, summary, ratio }) => [name, { ...summary, ratio }])),
      rounds: Object.fromEntries(rounds),
    },
    plots: found.flatMap(({ name, all }) => roundPlots(TITLES[name] ?? name, all, 'ends')),
    ...(first && { headline: { what: `${first.name} ends/s`, spread: first.summary.per_second } }),
    faults,
  });
}

/** A full mailbox refuses with 503, as it should. Everything else but success is a fault. */
function faultsOf(name: string, { by_status, errors }: EndRound): string[] {
  const ends = Object.entries(by_status).filter(([status]) => status !== 'succeeded');
  return [...ends.map(([status, count]) => `${number(count)} ended ${status}`), ...faultsAmong(errors)].map(
    (what) => `${name}: ${what}`,
  );
}
