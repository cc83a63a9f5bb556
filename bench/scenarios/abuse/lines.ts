import { number, rows } from '../../kit/report.js';
import { type Answers, CLASSES, KINDS, type Kind } from './messages.js';
import type { Trial } from './trial.js';
import type { Verdict } from './verdict.js';

const mib = (value: number) => `${number(value)} MiB`;

/** What a person reads of one attack. */
export function trialLines(trial: Trial, verdict: Verdict): string[] {
  const { attacked, under, alone, memory, sessions, series, left } = trial;
  const received = `${number(attacked.received_bytes / 2 ** 20, 1)} MiB came back`;
  const note = attacked.note === '' ? '' : ` (${attacked.note})`;
  const back = sessions.back_ms === null ? 'not back in time' : `back after ${number(sessions.back_ms)} ms`;
  const heap_kib = memory.after.heap_kib - memory.before.heap_kib;
  return [
    `${trial.attack}: ${trial.means}${note}`,
    ...rows([
      [
        'attacker',
        `${answersOf(attacked.answers)} in ${number(attacked.seconds, 1)} s, ${number(attacked.waiting)} waiting at its end; ${received}, ${number(attacked.callbacks)} callbacks`,
      ],
      ...KINDS.map((kind): [string, string] => {
        const [was, is] = [alone.kinds[kind], under.kinds[kind]];
        const ratio = was.p99_ms > 0 ? is.p99_ms / was.p99_ms : Number.NaN;
        const failed = is.failed > 0 ? `, ${is.failed} of ${is.due} failed` : '';
        const p99 = `${number(ratio, 1)} x the p99${failed}`;
        return [kind, `${threeOf(was)} alone, ${threeOf(is)} under attack (${p99}): ${verdict.standings[kind]}`];
      }),
      [
        'stall',
        `${number(alone.stall_ms)} ms alone, ${number(under.stall_ms)} ms under attack; neighbour: ${answersOf(under.answers)}; its own clock ${number(under.late_ms, 1)} ms late (p99)`,
      ],
      [
        'memory',
        `${mib(memory.before.rss_kib / 1_024)} before, ${mib(memory.peak_mib)} at most, ${mib(memory.after.rss_kib / 1_024)} after: ` +
          `${mib(verdict.leaked_mib)} stayed, of which ${mib(heap_kib / 1_024)} in heaps`,
      ],
      [
        'sessions',
        `${sessions.under.edge} of the API and ${sessions.under.busy} of all at work at most, ${sessions.alone.edge} and ${sessions.alone.busy} alone; ${back}`,
      ],
      [
        '5xx',
        `${trial.unexpected} other than 503; ${series.before} series of metrics before, ${series.after} after; ${number(trial.handles)} handles at most`,
      ],
      [
        'ended',
        left.operations + left.deliveries === 0
          ? `everything, ${number(left.seconds, 1)} s after it`
          : `${left.operations} operations and ${left.deliveries} deliveries are left`,
      ],
      ['verdict', verdict.breaches.length === 0 ? 'held' : `BROKEN: ${verdict.breaches.join('; ')}`],
    ]),
    '',
  ];
}

const threeOf = ({ p50_ms, p99_ms, max_ms }: { p50_ms: number; p99_ms: number; max_ms: number }) =>
  `${number(p50_ms, 1)} / ${number(p99_ms, 1)} / ${number(max_ms)} ms`;

function answersOf(answers: Answers): string {
  const told = CLASSES.filter((outcome) => (answers[outcome] ?? 0) > 0);
  return told.map((outcome) => `${number(answers[outcome] ?? 0)} × ${outcome}`).join(', ') || 'no answer';
}

const COLUMNS = ['attack', 'worst p99', 'ratio', 'failed', 'stall', 'grown', 'stayed', 'sessions', '5xx', ''];

/** One line an attack: of the neighbour the kind that fared worst, of the service what it held. */
export function summaryLines(judged: { trial: Trial; verdict: Verdict }[]): string[] {
  const line = ([name = '', ...cells]: string[]) =>
    `${name.padEnd(14)}${cells.map((cell) => cell.padStart(11)).join('')}`;
  const lines = judged.map(({ trial, verdict }) => {
    const { alone, under, sessions } = trial;
    const ratioOf = (kind: Kind) => under.kinds[kind].p99_ms / Math.max(1, alone.kinds[kind].p99_ms);
    const worst = KINDS.toSorted((a, b) => ratioOf(b) - ratioOf(a))[0] as Kind;
    const sum = (of: 'due' | 'failed') => KINDS.reduce((all, kind) => all + under.kinds[kind][of], 0);
    return line([
      ...[trial.attack, `${number(under.kinds[worst].p99_ms)} ms`, `${number(ratioOf(worst), 1)} x`],
      ...[`${number((100 * sum('failed')) / sum('due'), 1)} %`, `${number(under.stall_ms)} ms`],
      ...[mib(verdict.grown_mib), mib(verdict.leaked_mib), `${sessions.under.edge} API`, `${trial.unexpected}`],
      verdict.breaches.length === 0 ? 'held' : 'BROKEN',
    ]);
  });
  return [line(COLUMNS), ...lines, ''];
}
