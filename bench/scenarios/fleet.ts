import { setTimeout as wait } from 'node:timers/promises';
import { treeUse } from '../../browser-pool/chromium/process-tree.js';
import { type Cost, costOf } from '../kit/cost/cost.js';
import { Meter } from '../kit/cost/meter.js';
import { LIMITS } from '../kit/limits.js';
import { number, reportOf, rows } from '../kit/report.js';
import { defineScenario, type OptionValues, type Report } from '../kit/scenario.js';
import { type BenchService, startService } from '../kit/service.js';
import { quantile } from '../kit/spread.js';
import { checkInvariants, type FleetInvariants, openContexts } from './fleet/invariants.js';
import { type FleetMember, signInFleet } from './fleet/members.js';
import { emptyTally, type FleetTally, mixedWork } from './fleet/work.js';

const OPTIONS = {
  seconds: { means: 'how long they work', default: 120 },
  accounts: { means: 'accounts, spread over the regions', default: 40 },
  contexts: { means: 'warm contexts the browser may keep, below the number of accounts', default: 24 },
};
type Options = OptionValues<typeof OPTIONS>;

const NOT_MEASURED = [
  'the processor time of the browser and of the network: it is among the other cores',
  'distance: the network and its proxies are on this machine and share its cores; their memory is left out',
  'a node of its own: client, service, browser and PostgreSQL share the machine',
  'leaks of hours: memory is read at the start, in the middle and at the end of the given time',
];

/**
 * Accounts of four regions at once on the real service with a real browser: what they get done, what that holds in memory,
 * and whether what must hold did hold (`fleet/invariants.ts`).
 */
export const fleet = defineScenario({
  name: 'fleet',
  summary: 'mixed work of many accounts in four regions: operations a second, memory, and what must never happen',
  options: OPTIONS,
  startsService: true,
  async run(options, say) {
    say('starting the service');
    await using service = await startService({ BROWSER_CONTEXTS: String(options.contexts), BROWSER_THREADS: '1' });
    const startedAt = performance.now();
    const members = await signInFleet(service.api, options.accounts);
    const signedIn_s = (performance.now() - startedAt) / 1_000;
    say(`${options.accounts} accounts signed in after ${signedIn_s.toFixed(1)} s`);
    const { tally, samples, seconds, cost } = await metered(service, members, options.seconds, say);
    const invariants = await checkInvariants(service.addresses, service.api, members, tally.sent, options.contexts);
    return report(options, { signedIn_s, tally, samples, seconds, cost, ...invariants });
  },
});

interface Sample {
  at_s: number;
  done: number;
  contexts: number;
  node_mib: number;
  browser_mib: number;
}

/** Lets them work, with what an operation took of the service and of PostgreSQL. */
function metered(
  service: BenchService,
  members: FleetMember[],
  seconds: number,
  say: (line: string) => void,
): Promise<Worked & { cost: Cost }> {
  return service.withDatabase(async (_, db) => {
    const meter = await Meter.open([service.pid], db);
    const { value, usage } = await meter.during(() => work(service, members, seconds, say));
    return { ...value, cost: costOf([{ operations: value.tally.done, usage }]) };
  });
}

interface Worked {
  tally: FleetTally;
  samples: Sample[];
  seconds: number;
}

/** Takes a sample every few seconds. */
async function work(
  service: BenchService,
  members: FleetMember[],
  seconds: number,
  say: (line: string) => void,
): Promise<Worked> {
  const tally = emptyTally();
  const samples: Sample[] = [];
  const startedAt = performance.now();
  const takeSample = async () => {
    const at_s = (performance.now() - startedAt) / 1_000;
    const sample = {
      at_s,
      done: tally.done,
      contexts: await openContexts(service.addresses.metricsUrl),
      ...memory(service.pid),
    };
    samples.push(sample);
    say(
      `${at_s.toFixed(0)} s: ${tally.done} done, ${tally.failed.length} failed, ${sample.contexts} contexts, node ${sample.node_mib.toFixed(0)} MiB, browser ${sample.browser_mib.toFixed(0)} MiB`,
    );
  };
  await takeSample();
  const ended = new AbortController();
  const until = startedAt + seconds * 1_000;
  const working = mixedWork(service.api, members, () => performance.now() < until, tally).finally(() => ended.abort());
  while (!ended.signal.aborted) {
    await wait(LIMITS.fleet_progress_ms, undefined, { signal: ended.signal }).catch(() => {});
    await takeSample();
  }
  await working;
  return { tally, samples, seconds: (performance.now() - startedAt) / 1_000 };
}

/** The service's own process, and its browser with everything below it. */
function memory(pid: number): { node_mib: number; browser_mib: number } {
  const isService = (command: string) => command.includes('/server/main.js');
  const isOther = (command: string) => /sandbox\/main\.js|keeper|postgres/.test(command);
  const node_mib = treeUse(pid, isService)?.memory_mib ?? Number.NaN;
  return { node_mib, browser_mib: (treeUse(pid, (command) => !isOther(command))?.memory_mib ?? Number.NaN) - node_mib };
}

interface Measured extends FleetInvariants, Worked {
  signedIn_s: number;
  cost: Cost;
}

/** What did not hold, a sentence each. */
function violationsOf({ contexts, seconds }: Options, { tally, ...found }: Measured): string[] {
  const { contextsAtEnd, contextsDisconnected, regionViolations, ledgerViolations } = found;
  return [
    ...tally.failed,
    ...regionViolations,
    ...ledgerViolations,
    ...(contextsAtEnd > contexts ? [`${contextsAtEnd} contexts are open at the end, ${contexts} may be`] : []),
    ...(contextsDisconnected > 0 ? [`${contextsDisconnected} contexts are open without a session`] : []),
    ...(tally.done === 0 ? [`nothing was done in ${seconds} s`] : []),
  ];
}

function report(options: Options, measured: Measured): Promise<Report> {
  const { tally, samples, seconds, signedIn_s, contextsAtEnd, contextsDisconnected } = measured;
  const violations = violationsOf(options, measured);
  const perSecond = tally.done / seconds;
  const [p50_ms, p99_ms] = [quantile(tally.latencies_ms, 0.5), quantile(tally.latencies_ms, 0.99)];
  const texts = [...tally.sent.values()].reduce((sum, sent) => sum + sent.length, 0);
  const { done, failed } = tally;
  const found: [string, string][] = [
    ['done', `${number(perSecond, 1)} operations/s (${number(done)} in ${number(seconds)} s, ${failed.length} failed)`],
    ['latency', `p50 ${number(p50_ms)} ms, p99 ${number(p99_ms)} ms from submission to the answer, the queue included`],
    ['signed in', `${number(options.accounts)} accounts in ${number(signedIn_s, 1)} s`],
    ...memoryRows(samples),
    [
      'contexts',
      `${number(contextsAtEnd)} open at the end (bound ${options.contexts}), ${contextsDisconnected} after disconnecting`,
    ],
    ['regions', `${measured.regionViolations.length} accounts seen outside their own region, of ${options.accounts}`],
    ['ledger', `${measured.ledgerViolations.length} of ${number(texts)} sends there twice or never`],
  ];
  return reportOf({
    scenario: 'fleet',
    options,
    method: 'accounts at mixed work in a closed loop; what each got is compared with what it asked for',
    lines: rows(found),
    costs: { operation: measured.cost },
    ratios: memoryRatios(samples),
    sampled: `${number(done)} operations of ${options.accounts} accounts, one round`,
    notMeasured: NOT_MEASURED,
    faults: violations.slice(0, LIMITS.printed_violations),
    data: {
      ...{ perSecond, done, p50_ms, p99_ms, signedIn_s, samples },
      ...{ contextsAtEnd, contextsDisconnected, violations },
    },
  });
}

/** Memory at the start, in the middle and at the end. */
function memoryRows(samples: Sample[]): [string, string][] {
  const [first, middle, last] = [samples[0], samples[Math.floor(samples.length / 2)], samples.at(-1)];
  const levels = (read: (sample: Sample) => number) =>
    [first, middle, last].map((sample) => (sample ? number(read(sample)) : '?')).join(', ');
  return [
    ['node', `${levels(({ node_mib }) => node_mib)} MiB at the start, in the middle, at the end`],
    ['browser', `${levels(({ browser_mib }) => browser_mib)} MiB`],
  ];
}

function memoryRatios(samples: Sample[]): string[] {
  const [middle, last] = [samples[Math.floor(samples.length / 2)], samples.at(-1)];
  const grown = (read: (sample: Sample) => number) =>
    number(last && middle ? read(last) / read(middle) : Number.NaN, 2);
  const [node, browser] = [grown(({ node_mib }) => node_mib), grown(({ browser_mib }) => browser_mib)];
  return [`${node} of the node's memory in the middle is there at the end, ${browser} of the browser's`];
}
