import { machine } from './machine.js';
import type { Plot } from './page/plot.js';
import type { Report } from './scenario.js';

/** What a scenario found, before it is put on paper. */
export interface Findings {
  scenario: string;
  options: object;
  /** How the figures come about, in a sentence. */
  method?: string;
  /** What a person reads, line by line. */
  lines: string[];
  /** What the numbers leave out, a sentence each. */
  notMeasured: string[];
  /** The same numbers for a program; scenario, options, machine and commit are added. */
  data: Record<string, unknown>;
  /** What the HTML page draws. */
  plots?: Plot[];
  /** The figure that a sweep of settings looks for the best of. */
  headline?: Report['headline'];
  /** What was promised and did not hold. */
  faults?: string[];
}

/** The report every scenario ends with: its lines, where they were measured, and what they leave out. */
export async function reportOf({
  scenario,
  options,
  method,
  lines,
  notMeasured,
  data,
  plots = [],
  headline,
  faults = [],
}: Findings): Promise<Report> {
  const where = await machine();
  const text = [
    ...lines,
    ...rows([
      ...(method === undefined ? [] : [['method', method] as [string, string]]),
      ['machine', where.machine],
      ['commit', where.commit],
    ]),
    '',
    'not measured:',
    ...notMeasured.map((line) => `- ${line}`),
  ].join('\n');
  const named = { scenario, options, ...(method !== undefined && { method }) };
  return {
    text,
    data: { ...named, ...data, ...where, not_measured: notMeasured },
    plots,
    ...(headline && { headline }),
    faults,
  };
}

/** Lines of a name and what was found under it; a blank name goes on with the line above. */
export function rows(found: [name: string, value: string][]): string[] {
  return found.map(([name, value]) => `${name.padEnd(9)} ${value}`);
}

/** A number as a person reads it, with at most so many decimals. */
export function number(value: number, decimals = 0): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: decimals });
}

/** What a share `q` of the values do not exceed; 0 of none. Sorts them in place. */
export function quantile(values: number[], q: number): number {
  values.sort((a, b) => a - b);
  return values[Math.min(values.length - 1, Math.floor(values.length * q))] ?? 0;
}
