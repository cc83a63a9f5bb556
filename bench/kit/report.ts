import type { Cost } from './cost/cost.js';
import { machine } from './machine.js';
import type { Plot } from './page/plot.js';
import type { Report } from './scenario.js';
import type { Spread } from './spread.js';

/** What a scenario found, before it is put on paper. */
export interface Findings {
  scenario: string;
  options: object;
  /** How the figures come about, in a sentence. */
  method: string;
  /** What a person reads, line by line. */
  lines: string[];
  /** What one operation took, by its kind; or why none can be counted, in a sentence. */
  costs: Readonly<Record<string, Cost>> | string;
  /** Each figure against its baseline of the same run, in words; or why there is no baseline. */
  ratios: string[] | string;
  /** How many measurements the figures stand on. Absent: as many as their costs. */
  sampled?: string;
  /** What the numbers leave out, a sentence each. */
  notMeasured: string[];
  /** The same numbers for a program; scenario, options, costs, ratios, machine and commit are added. */
  data: Record<string, unknown>;
  /** What the HTML page draws. */
  plots?: Plot[];
  /** The figure that a sweep of settings looks for the best of. */
  headline?: Report['headline'];
  /** What was promised and did not hold. */
  faults?: string[];
}

/** The report every scenario ends with: its lines, what an operation took, where that was measured, and what it leaves out. */
export async function reportOf(findings: Findings): Promise<Report> {
  const { scenario, options, method, lines, costs, ratios, sampled, notMeasured, data } = findings;
  const { plots = [], headline, faults = [] } = findings;
  const where = await machine();
  const text = [
    ...lines,
    ...(lines.at(-1) === '' ? [] : ['']),
    ...(typeof costs === 'object' ? [...costLines(costs), COST_KEY, ''] : []),
    ...rows([
      ...(typeof costs === 'string' ? [['cost', costs] as const] : []),
      ...(typeof ratios === 'string' ? [['ratio', `none: ${ratios}`] as const] : []),
      ...(typeof ratios === 'object' ? ratios.map((ratio, place) => [place === 0 ? 'ratio' : '', ratio] as const) : []),
      ...(sampled === undefined ? [] : [['samples', sampled] as const]),
      ['method', method],
      ['machine', where.machine],
      ['commit', where.commit],
    ]),
    '',
    'not measured:',
    ...notMeasured.map((line) => `- ${line}`),
  ].join('\n');
  return {
    text,
    data: { ...{ scenario, options, method, costs, ratios, sampled }, ...data, ...where, not_measured: notMeasured },
    plots,
    ...(headline && { headline }),
    faults,
  };
}

const COST_KEY =
  'median (least–most) of the rounds; other cores: busy with other processes of this machine; samples: in all / rounds';

/** Lines of a name and what was found under it; a blank name goes on with the line above. */
export function rows(found: readonly (readonly [name: string, value: string])[]): string[] {
  return found.map(([name, value]) => `${name.padEnd(9)} ${value}`);
}

/** Lines of a table whose columns are aligned: the first `texts` of them to the left, the others, which are numbers, to the right. */
export function tableLines(table: readonly (readonly string[])[], texts = 1): string[] {
  const widths = (table[0] ?? []).map((_, column) => Math.max(...table.map((cells) => cells[column]?.length ?? 0)));
  const padded = (cell: string, column: number) =>
    column < texts ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0);
  return table.map((cells) => cells.map(padded).join('  '));
}

/** A number as a person reads it, with at most so many decimals. */
export function number(value: number, decimals = 0): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: decimals });
}

/** The median, and in brackets what it lies between; of one round its figure alone. */
export function spreadText({ median, min, max, rounds }: Spread, unit: string, decimals = 0): string {
  const figure = `${number(median, decimals)} ${unit}`.trim();
  return rounds.length === 1 ? figure : `${figure} (${number(min, decimals)}–${number(max, decimals)})`;
}

const COST_COLUMNS: [head: string, cell: (cost: Cost) => string][] = [
  ['service µs', ({ service_us }) => spreadText(service_us, '')],
  ['main + actors + rest', ({ cpu_us }) => partsText(cpu_us)],
  ['PostgreSQL µs', ({ postgres_us }) => spreadText(postgres_us, '')],
  ['WAL bytes', ({ wal_bytes }) => (wal_bytes ? spreadText(wal_bytes, '') : '')],
  ['client µs', ({ cpu_us }) => (cpu_us?.client.max ? number(cpu_us.client.median) : '')],
  ['other cores', ({ others_cores }) => (others_cores ? spreadText(others_cores, '', 2) : '')],
  ['samples', ({ operations, service_us }) => `${number(operations)} / ${service_us.rounds.length}`],
];

function partsText(cpu_us: Cost['cpu_us']): string {
  if (!cpu_us) return '';
  return [cpu_us.main, cpu_us.actors, cpu_us.helpers].map(({ median }) => number(median)).join(' + ');
}

/** A line for each kind of operation, by its name. */
function costLines(costs: Readonly<Record<string, Cost>>): string[] {
  const table = [
    ['processor time and log of one', ...COST_COLUMNS.map(([head]) => head)],
    ...Object.entries(costs).map(([name, cost]) => [name, ...COST_COLUMNS.map(([, cell]) => cell(cost))]),
  ];
  const widths = table[0]!.map((_, column) => Math.max(...table.map((cells) => cells[column]!.length)));
  const shown = widths.map((width, column) => (table.slice(1).every((cells) => cells[column] === '') ? 0 : width));
  const line = (cells: string[]) =>
    cells.flatMap((cell, column) =>
      shown[column] === 0 ? [] : column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!),
    );
  return table.map((cells) => line(cells).join('  '));
}
