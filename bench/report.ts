import { machine } from './machine.js';
import type { Report } from './scenario.js';

/** What a scenario found, before it is put on paper. */
export interface Findings {
  scenario: string;
  options: object;
  /** What a person reads, line by line. */
  lines: string[];
  /** What the numbers leave out, a sentence each. */
  notMeasured: string[];
  /** The same numbers for a program; scenario, options, machine and commit are added. */
  data: Record<string, unknown>;
  /** What was promised and did not hold. */
  faults?: string[];
}

/** The report every scenario ends with: its lines, where they were measured, and what they leave out. */
export async function reportOf({
  scenario,
  options,
  lines,
  notMeasured,
  data,
  faults = [],
}: Findings): Promise<Report> {
  const where = await machine();
  const text = [
    ...lines,
    ...rows([
      ['machine', where.machine],
      ['commit', where.commit],
    ]),
    '',
    'not measured:',
    ...notMeasured.map((line) => `- ${line}`),
  ].join('\n');
  return { text, data: { scenario, options, ...data, ...where }, faults };
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
