import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { LIMITS as LEASES } from '../../actors/limits.js';
import { number, reportOf, rows } from '../kit/report.js';
import { defineScenario, type OptionValues, type Report } from '../kit/scenario.js';
import { median, quantile } from '../kit/spread.js';
import { check } from './chaos/checker/check.js';
import { type Figures, figures } from './chaos/checker/figures.js';
import type { Violation } from './chaos/checker/violation.js';
import { LIMITS as CHAOS_LIMITS } from './chaos/limits.js';
import { programOf } from './chaos/parts/program.js';
import { type Answers, answersOf } from './rolling/answers.js';
import { LIMITS } from './rolling/limits.js';
import { type RollingRun, runRolling } from './rolling/run.js';

const OPTIONS = {
  from: {
    means: 'a built checkout of the version before, which the nodes start with; absent: this version',
    default: '',
  },
  seed: { means: 'what the work is drawn from', default: 1 },
  nodes: { means: 'nodes that share the database', default: 3 },
  connections: { means: 'simulated connections', default: 120 },
  social: { means: 'connections to the stand-in network', default: 6 },
  rate: { means: 'submissions a second to simulated connections', default: 60, fraction: true },
  social_rate: { means: 'submissions a second to social connections', default: 0.5, fraction: true },
  hold: { means: 'seconds of work between two restarts', default: 10, fraction: true },
  settle: { means: 'seconds that deliveries get to end once operations have', default: 60 },
  keep: { means: 'keep the logs and the evidence of a run that found nothing', default: false },
};
type Options = OptionValues<typeof OPTIONS>;

const NOT_MEASURED = [
  'machines: nodes, database, network, receivers and clients share this one and its clock',
  'a balancer: the clients themselves go to another node when one refuses',
  'versions further apart than one migration',
];

/**
 * Several nodes on one database, restarted one after the other under load: to another version, and through the phases in which an
 * encryption key is changed. Nothing fails, so nothing may be lost, unknown or without an answer.
 */
export const rolling = defineScenario({
  name: 'rolling',
  summary: 'whether a rolling restart to another version, with a change of the encryption key, is noticed by anybody',
  options: OPTIONS,
  startsService: true,
  async run(options, say) {
    const former = programOf('--from', options.from);
    const folder = resolve('.data/rolling', `${options.seed}-${new Date().toISOString().replace(/[:.]/g, '-')}`);
    await mkdir(folder, { recursive: true });
    const abort = new AbortController();
    const interrupted = () => abort.abort(new Error('interrupted'));
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, interrupted);
    try {
      const run = await runRolling(options, { former, folder }, abort.signal, say);
      await writeFile(join(folder, 'evidence.json'), JSON.stringify(run.evidence));
      const faults = faultsOf(run, check(run.evidence), answersOf(run.evidence));
      const kept = options.keep || faults.length > 0;
      if (!kept) await rm(folder, { recursive: true, force: true });
      return await reportOn(options, run, faults, kept ? relative(process.cwd(), folder) : undefined);
    } catch (error) {
      say(`the run was given up; its logs are in ${relative(process.cwd(), folder)}`);
      throw error;
    } finally {
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, interrupted);
    }
  },
});

function faultsOf(run: RollingRun, violations: Violation[], answers: Answers): string[] {
  const { evidence, restarts, underFormer, ownEnds } = run;
  const unanswered = (evidence.lost ?? []).filter(({ how }) => how !== 'refused');
  return [
    ...violations.slice(0, CHAOS_LIMITS.printed_violations).map(({ invariant, what }) => `${invariant}: ${what}`),
    ...ownEnds.map(({ node, status, at }) => `node ${node} ended by itself (${status}) at ${at}`),
    ...restarts.flatMap(({ clean, node, step }) => (clean ? [] : [`${step}: SIGTERM did not end node ${node}`])),
    ...unanswered
      .slice(0, LIMITS.printed_requests)
      .map(({ node, at, request, how }) => `node ${node} left ${request} without an answer (${how}) at ${at}`),
    ...some(unanswered.length, 'requests reached a node and were not answered'),
    ...some(answers.not_accepted, 'submissions were never accepted'),
    ...(answers.put_back.longest_ms > LEASES.lease_ms ? ['a lease ran out: an operation was not handed over'] : []),
    ...some(underFormer, 'rows were left under the former key'),
  ];
}

const some = (count: number, what: string) => (count === 0 ? [] : [`${count} ${what}`]);

function reportOn(options: Options, run: RollingRun, faults: string[], folder?: string): Promise<Report> {
  const found = figures(run.evidence);
  const answers = answersOf(run.evidence);
  const { restarts, sideBySide, resealed, underFormer, progress, ownEnds } = run;
  return reportOf({
    scenario: 'rolling',
    options,
    method: 'every node restarted in turn under load, three times; a checker then judges what was seen',
    lines: [
      ...figureLines(options, run, found, answers),
      '',
      faults.length === 0 ? 'nobody noticed anything' : `${faults.length} faults`,
      ...(folder ? [`kept in   ${folder}`] : []),
    ],
    costs: 'nodes are ended and started anew, and take their count of processor time with them',
    ratios: 'what was promised is the measure',
    sampled: `${number(found.accepted)} operations, ${restarts.length} restarts`,
    notMeasured: [...NOT_MEASURED, ...(options.from === '' ? ['two versions side by side: no --from'] : [])],
    data: {
      ...{ figures: found, answers, restarts, side_by_side: sideBySide, resealed, under_former: underFormer },
      ...{ left_out: progress.left_out, own_ends: ownEnds, folder },
    },
    faults,
  });
}

function figureLines(options: Options, run: RollingRun, found: Figures, answers: Answers): string[] {
  const { restarts, sideBySide, resealed, progress } = run;
  const { lost, by_status } = answers;
  const times = (of: 'ended_ms' | 'serves_ms' | 'owns_ms') => {
    const all = restarts.map((one) => one[of]);
    return `${number(median(all))} ms (p50), ${number(quantile(all, 1))} ms (max)`;
  };
  return rows([
    ['restarts', `${restarts.length}, one node after the other`],
    ['ended', `${times('ended_ms')} after SIGTERM`],
    ['served', times('serves_ms')],
    ['owned', `${times('owns_ms')}: partitions again`],
    ['rotated', `${number(resealed)} values sealed anew`],
    ['accepted', `${number(found.accepted)} of ${number(progress.sent)} submitted, ${progress.left_out} left out`],
    ['', `${number(answers.longest_acceptance_ms)} ms until a submission was accepted, at the longest`],
    ['answers', `${list(by_status)}; 503: ${percent(by_status[503] ?? 0, progress.sent)} of the submissions`],
    ['none', `refused ${lost.refused} (the node was down), reset ${lost.reset}, late ${lost.late}`],
    ['ends', list(found.operations_by_status)],
    ['failures', list(found.failures_by_code)],
    ['stall', `${number(found.longest_stall_ms)} ms without any end, at the longest`],
    [
      'put back',
      `${answers.put_back.operations} operations when they were handed over, ${number(answers.put_back.longest_ms)} ms after they began (max)`,
    ],
    ['callbacks', `${number(found.callbacks)}, ${number(found.repeated_delivery_share * 100, 2)} % taken twice`],
    ...(options.from === '' ? [] : [['both', sideBySideLine(sideBySide)] as [string, string]]),
  ]);
}

function sideBySideLine({ former, next }: RollingRun['sideBySide']): string {
  const both = former + next;
  return `${number(both)} operations while both versions ran, ${percent(former, both)} on the former one`;
}

const percent = (count: number, whole: number) => `${number((count / Math.max(1, whole)) * 100, 2)} %`;

const list = (counts: Record<string, number>) =>
  Object.entries(counts)
    .map(([name, count]) => `${name} ${number(count)}`)
    .join(', ');
