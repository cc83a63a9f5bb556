import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { InvalidArgumentError } from 'commander';
import { number, reportOf, rows } from '../kit/report.js';
import { defineScenario, type OptionValues, type Report } from '../kit/scenario.js';
import { check } from './chaos/checker/check.js';
import { type Figures, figures } from './chaos/checker/figures.js';
import { storiesOf } from './chaos/checker/story.js';
import type { Violation } from './chaos/checker/violation.js';
import type { Evidence } from './chaos/evidence.js';
import { drawExtremes, extremeLines, parseSet, RefusedExtreme } from './chaos/extremes/draw.js';
import { LIMITS } from './chaos/limits.js';
import { programOf } from './chaos/parts/program.js';
import { type ChaosOptions, type ChaosRun, runChaos } from './chaos/run.js';

const OPTIONS = {
  seed: { means: 'what the faults and the work are drawn from; the same seed tries the same', default: 1 },
  minutes: { means: 'how long the clients work and faults are tried', default: 2, fraction: true },
  nodes: { means: 'nodes that share the database', default: 3 },
  connections: { means: 'simulated connections', default: 120 },
  social: { means: 'connections to the stand-in network; 0 where there is no browser', default: 6, none: true },
  rate: { means: 'submissions a second to simulated connections', default: 60, fraction: true },
  social_rate: { means: 'submissions a second to social connections', default: 0.5, fraction: true },
  every: { means: 'seconds between two faults, on average', default: 5, fraction: true },
  settle: { means: 'seconds that deliveries get to end once operations have', default: 180 },
  extremes: { means: 'each node draws its own limits from the seed, from the usual to the absurd', default: false },
  set: { means: 'limits of all nodes with --extremes, as actors.poll_ms=5,storage.announcement_rows=1', default: '' },
  program: { means: 'a built checkout whose version the nodes run; absent: this version', default: '' },
  keep: { means: 'keep the logs and the evidence of a run that found nothing', default: false },
};
type Options = OptionValues<typeof OPTIONS>;

const NOT_MEASURED = [
  'machines: nodes, database, network, receivers and clients share this one and its clock; nothing is lost but by order',
  'disks: what was written is there after a SIGKILL of PostgreSQL; power does not fail',
  'providers: only the stand-in network is written to',
];

/**
 * Several nodes on one database, each behind a faulty link, with clients that repeat what was not answered, while parts fail
 * by halves. Then the checker judges what was left (`chaos/checker/`).
 */
export const chaos = defineScenario({
  name: 'chaos',
  summary:
    'whether nothing is lost and nothing happens twice while nodes, links, database, browsers and receivers fail',
  options: OPTIONS,
  startsService: true,
  async run(options, say) {
    const settings = settingsOf(options);
    const stamp = new Date().toISOString().replace(/[:.]/g, '-');
    const folder = resolve('.data/chaos', `${options.seed}-${stamp}`);
    await mkdir(folder, { recursive: true });
    const abort = new AbortController();
    const interrupted = () => abort.abort(new Error('interrupted'));
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, interrupted);
    try {
      const { extremes: _, ...usual } = options;
      const run = await runChaos({ ...usual, ...settings }, folder, abort.signal, say);
      abort.signal.throwIfAborted();
      await writeFile(join(folder, 'evidence.json'), JSON.stringify(run.evidence));
      const violations = check(run.evidence);
      const kept = options.keep || violations.length > 0 || run.ownEnds.length > 0;
      const report = await reportOn(options, run, violations, kept ? relative(process.cwd(), folder) : undefined);
      if (!kept) await rm(folder, { recursive: true, force: true });
      return report;
    } catch (error) {
      say(`the run was given up; its logs are in ${relative(process.cwd(), folder)}`);
      throw error;
    } finally {
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, interrupted);
    }
  },
});

/** Throws InvalidArgumentError, which names what is refused. */
function settingsOf({ seed, nodes, extremes, set, program }: Options): Pick<ChaosOptions, 'program' | 'extremes'> {
  try {
    const given = parseSet(set);
    if (extremes) drawExtremes(seed, nodes, given);
    else if (set !== '') throw new RefusedExtreme(`--set ${set} wants --extremes`);
    return { program: programOf('--program', program), ...(extremes && { extremes: { set: given } }) };
  } catch (error) {
    throw error instanceof RefusedExtreme ? new InvalidArgumentError(error.message) : error;
  }
}

async function reportOn(options: Options, run: ChaosRun, violations: Violation[], folder?: string): Promise<Report> {
  const found = figures(run.evidence);
  const byInvariant = Object.entries(Object.groupBy(violations, ({ invariant }) => invariant));
  const lines = [
    ...figureLines(run, options, found),
    '',
    ...(violations.length === 0
      ? ['the checker found nothing']
      : [`the checker found ${violations.length} violations:`]),
    ...byInvariant.map(([invariant, all]) => `  ${String(all?.length).padStart(6)}  ${invariant}`),
    ...(folder ? [`kept in   ${folder}`] : []),
  ];
  return reportOf({
    scenario: 'chaos',
    options,
    method: 'seeded faults under load; a checker then judges what clients, receivers, network and rows have seen',
    lines,
    costs: 'nodes are killed and started anew, and take their count of processor time with them',
    ratios: 'what was promised is the measure',
    sampled: `${number(found.accepted)} operations, ${run.evidence.run.faults.length} faults`,
    notMeasured: [...NOT_MEASURED, ...run.without.map((kind) => `${kind}: this machine cannot make it`)],
    data: {
      seed: options.seed,
      extremes: run.evidence.run.extremes,
      figures: found,
      faults: countBy(run.evidence.run.faults),
      missed_faults: run.missed,
      own_ends: run.ownEnds,
      violations,
      folder,
    },
    faults: [
      ...violations.slice(0, LIMITS.printed_violations).map(({ invariant, what }) => `${invariant}: ${what}`),
      ...storiesOf(run.evidence, violations),
      ...run.ownEnds.map(({ node, status, at }) => `node ${node} ended by itself (${status}) at ${at}`),
    ],
  });
}

function figureLines(
  { evidence, planned, missed, progress }: ChaosRun,
  { program }: Options,
  found: Figures,
): string[] {
  const { run } = evidence;
  const { take_over } = found;
  const percent = (share: number) => `${number(share * 100, 2)} %`;
  const list = (counts: Record<string, number>) =>
    Object.entries(counts)
      .map(([name, count]) => `${name} ${number(count)}`)
      .join(', ');
  return rows([
    ['seed', `${run.seed}`],
    ...(program === '' ? [] : [['nodes run', program] as [string, string]]),
    ...extremeLines(run.extremes ?? []).map((line): [string, string] => ['', line]),
    ['faults', `${run.faults.length} of ${planned.length} planned, ${missed} found nothing to hit`],
    ['', list(countBy(run.faults))],
    ['accepted', `${number(found.accepted)} of ${number(progress.sent)} submitted, ${progress.left_out} left out`],
    ['answers', `${number(found.answered_503)} times 503, ${number(found.unanswered)} times none`],
    [
      'wait',
      `${number(found.acceptance.p50_ms)} ms for an answer (p50), ${number(found.acceptance.max_ms)} ms at the longest`,
    ],
    ['ends', list(found.operations_by_status)],
    ['failures', list(found.failures_by_code)],
    ['unknown', `${percent(found.unknown_share)} of the writes`],
    ['stall', `${number(found.longest_stall_ms)} ms without any end, at the longest${sinceStart(evidence, found)}`],
    [
      'take-over',
      `${take_over.operations} operations, ${number(take_over.p50_ms)} ms (p50), ${number(take_over.max_ms)} ms (max)`,
    ],
    [
      'callbacks',
      `${number(found.callbacks)}, ${percent(found.repeated_delivery_share)} of the deliveries taken twice`,
    ],
  ]);
}

function sinceStart({ run }: Evidence, { longest_stall_at: at }: Figures): string {
  return at === null ? '' : `, ${number((at - run.started_at) / 1_000, 1)} s after the start`;
}

function countBy(faults: { kind: string }[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { kind } of faults) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}
