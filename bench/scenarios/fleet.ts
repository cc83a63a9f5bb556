import { setTimeout as wait } from 'node:timers/promises';
import typia from 'typia';
import { treeUse } from '../../browser-pool/chromium/process-tree.js';
import { ServiceApi } from '../api.js';
import {
  contextsAtMost,
  disconnectFleet,
  emptyTally,
  type FleetMember,
  type FleetTally,
  ledgerViolations,
  mixedWork,
  openContexts,
  proxyViolations,
  signInFleet,
} from '../fleet/work.js';
import { machine } from '../machine.js';
import { quantileOf } from '../quantile.js';
import type { Report, Scenario } from '../scenario.js';
import { type BenchService, startService } from '../service.js';

interface Options {
  seconds: number;
  accounts: number;
  contexts: number;
}

const NOT_MEASURED = [
  'distance: the network and its proxies are on this machine and share its cores; their memory is left out',
  'a node of its own: client, service, browser and PostgreSQL share the machine',
  'leaks of hours: memory is read at the start, in the middle and at the end of the given time',
];

/** Between two progress lines. */
const PROGRESS_ms = 5_000;
/** What idle contexts may take to be swept. */
const SWEEP_ms = 20_000;
const SHOWN_violations = 10;

/**
 * Accounts of four regions at once on the real service with a real browser: what they get done, what that holds in memory,
 * and whether anybody ever left their region, saw another account, sent something twice or left a context open.
 */
export const fleet: Scenario = {
  name: 'fleet',
  summary: 'mixed work of many accounts in four regions: operations a second, memory, and what must never happen',
  options: [
    { flag: '--seconds', means: 'how long they work', default: 120 },
    { flag: '--accounts', means: 'accounts, spread over the regions', default: 40 },
    { flag: '--contexts', means: 'warm contexts the browser may keep, below the number of accounts', default: 24 },
  ],
  async run(given, say) {
    const options = typia.assert<Options>(given);
    say('starting the service');
    await using service = await startService({ BROWSER_CONTEXTS: String(options.contexts), BROWSER_THREADS: '1' });
    const api = new ServiceApi(service);
    const startedAt = performance.now();
    const members = await signInFleet(api, options.accounts);
    const signedIn_s = (performance.now() - startedAt) / 1_000;
    say(`${options.accounts} accounts signed in after ${signedIn_s.toFixed(1)} s`);
    const { tally, samples, seconds } = await work(service, api, members, options.seconds, say);
    const invariants = await lookBack(service, api, members, tally, options);
    return report(options, { signedIn_s, tally, samples, seconds, ...invariants });
  },
};

interface Sample {
  at_s: number;
  done: number;
  contexts: number;
  node_mib: number;
  browser_mib: number;
}

/** Lets them work and looks every few seconds. */
async function work(
  service: BenchService,
  api: ServiceApi,
  members: FleetMember[],
  seconds: number,
  say: (line: string) => void,
): Promise<{ tally: FleetTally; samples: Sample[]; seconds: number }> {
  const tally = emptyTally();
  const samples: Sample[] = [];
  const startedAt = performance.now();
  const look = async () => {
    const at_s = (performance.now() - startedAt) / 1_000;
    const sample = { at_s, done: tally.done, contexts: await openContexts(service.metricsUrl), ...memory(service.pid) };
    samples.push(sample);
    say(
      `${at_s.toFixed(0)} s: ${tally.done} done, ${tally.failed.length} failed, ${sample.contexts} contexts, node ${sample.node_mib.toFixed(0)} MiB, browser ${sample.browser_mib.toFixed(0)} MiB`,
    );
  };
  await look();
  const ended = new AbortController();
  const working = mixedWork(api, members, startedAt + seconds * 1_000, tally).finally(() => ended.abort());
  while (!ended.signal.aborted) {
    await wait(PROGRESS_ms, undefined, { signal: ended.signal }).catch(() => {});
    await look();
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

interface Invariants {
  violations: string[];
  contextsAtEnd: number;
  contextsDisconnected: number;
  regionViolations: number;
  ledgerViolations: number;
}

/** What must hold once the work is over. */
async function lookBack(
  service: BenchService,
  api: ServiceApi,
  members: FleetMember[],
  tally: FleetTally,
  { contexts, seconds }: Options,
): Promise<Invariants> {
  const contextsAtEnd = await contextsAtMost(service.metricsUrl, contexts, SWEEP_ms);
  const regions = await proxyViolations(service.controlUrl, members);
  const ledger = await ledgerViolations(service.controlUrl, tally.sent);
  await disconnectFleet(api, members);
  const contextsDisconnected = await contextsAtMost(service.metricsUrl, 0, SWEEP_ms);
  const violations = [
    ...tally.failed,
    ...regions,
    ...ledger,
    ...(contextsAtEnd > contexts ? [`${contextsAtEnd} contexts are open at the end, ${contexts} may be`] : []),
    ...(contextsDisconnected > 0 ? [`${contextsDisconnected} contexts are open though nobody has a session`] : []),
    ...(tally.done === 0 ? [`nothing was done in ${seconds} s`] : []),
  ];
  return {
    violations,
    contextsAtEnd,
    contextsDisconnected,
    regionViolations: regions.length,
    ledgerViolations: ledger.length,
  };
}

interface Measured extends Invariants {
  signedIn_s: number;
  tally: FleetTally;
  samples: Sample[];
  seconds: number;
}

async function report(options: Options, measured: Measured): Promise<Report> {
  const { tally, samples, violations, seconds, signedIn_s, contextsAtEnd, contextsDisconnected } = measured;
  const n = (value: number, digits = 0) => value.toLocaleString('en-US', { maximumFractionDigits: digits });
  const quantile = quantileOf(tally.latencies_ms);
  const [first, middle, last] = [samples[0], samples[Math.floor(samples.length / 2)], samples.at(-1)] as Sample[];
  const levels = (read: (sample: Sample) => number) =>
    [first, middle, last].map((sample) => (sample ? n(read(sample)) : '?')).join(', ');
  const growth = (read: (sample: Sample) => number) => (last && middle ? read(last) / read(middle) : Number.NaN);
  const texts = [...tally.sent.values()].reduce((sum, sent) => sum + sent.length, 0);
  const perSecond = tally.done / seconds;
  const [p50_ms, p99_ms] = [quantile(0.5), quantile(0.99)];
  const where = await machine();
  const rows: [string, string][] = [
    ['done', `${n(perSecond, 1)} operations/s (${n(tally.done)} in ${n(seconds)} s, ${n(tally.failed.length)} failed)`],
    [
      'latency',
      `p50 ${n(p50_ms)} ms, p99 ${n(p99_ms)} ms from submission to the answer, waiting for its turn included`,
    ],
    ['signed in', `${n(options.accounts)} accounts in ${n(signedIn_s, 1)} s`],
    ['node', `${levels((of) => of.node_mib)} MiB at the start, in the middle, at the end`],
    ['browser', `${levels((of) => of.browser_mib)} MiB`],
    [
      'ratio',
      `${n(
        growth((of) => of.node_mib),
        2,
      )} of the node's memory in the middle is there at the end, ${n(
        growth((of) => of.browser_mib),
        2,
      )} of the browser's`,
    ],
    [
      'contexts',
      `${n(contextsAtEnd)} open at the end (bound ${n(options.contexts)}), ${n(contextsDisconnected)} after disconnecting`,
    ],
    ['regions', `${n(measured.regionViolations)} accounts seen outside their own region, of ${n(options.accounts)}`],
    ['ledger', `${n(measured.ledgerViolations)} of ${n(texts)} sends there twice or never`],
    ['machine', where.machine],
    ['commit', where.commit],
  ];
  const text = [
    ...rows.map(([name, value]) => `${name.padEnd(9)} ${value}`),
    '',
    'not measured:',
    ...NOT_MEASURED.map((line) => `- ${line}`),
  ].join('\n');
  const { done } = tally;
  const data = { scenario: 'fleet', options, perSecond, done, p50_ms, p99_ms, signedIn_s, samples, contextsAtEnd };
  return {
    text,
    faults: violations.slice(0, SHOWN_violations),
    data: { ...data, contextsDisconnected, violations, ...where },
  };
}
