import { type Cost, mergeCosts } from '../../kit/cost/cost.js';
import { number, spreadText, tableLines } from '../../kit/report.js';
import { type Spread, spreadOf } from '../../kit/spread.js';

/** Which of the two trees was measured. */
export type Side = 'base' | 'this';

/** What an operation took, by its kind, in each round. */
export type Rounds = Record<Side, Record<string, Cost>[]>;

/** One figure of one kind of operation. */
export interface Ratio extends Record<Side, Spread> {
  kind: string;
  figure: 'service µs' | 'PostgreSQL µs';
  /** This to base in each round, the median of the rounds: below 1 it became cheaper. Both were measured at once, so that what a round had weighs on both. */
  ratio: number;
}

/** The kinds that both sides have, each with what an operation took on either. Pure. Throws when a side had no round. */
export function sidesOf(rounds: Rounds): Map<string, Record<Side, Cost>> {
  const [first] = rounds.this;
  const kinds = Object.keys(first ?? {}).filter((kind) => rounds.base.every((costs) => kind in costs));
  const merged = (side: Side, kind: string) => mergeCosts(rounds[side].flatMap((costs) => costs[kind] ?? []));
  return new Map(kinds.map((kind) => [kind, { base: merged('base', kind), this: merged('this', kind) }]));
}

/** Pure. */
export function ratiosOf(sides: ReadonlyMap<string, Record<Side, Cost>>): Ratio[] {
  return [...sides].flatMap(([kind, { base, this: own }]) => [
    ratioOf(kind, 'service µs', base.service_us, own.service_us),
    ratioOf(kind, 'PostgreSQL µs', base.postgres_us, own.postgres_us),
  ]);
}

function ratioOf(kind: string, figure: Ratio['figure'], base: Spread, own: Spread): Ratio {
  const ratios = own.rounds.map((us, round) => us / (base.rounds[round] ?? us));
  return { kind, figure, base, this: own, ratio: spreadOf(ratios).median };
}

/** A line a figure. */
export function ratioLines(ratios: readonly Ratio[]): string[] {
  const cells = ratios.map(({ kind, figure, base, this: own, ratio }) => [
    kind,
    figure,
    spreadText(base, ''),
    spreadText(own, ''),
    number(ratio, 2),
  ]);
  return tableLines([['', '', 'base', 'this', 'this/base'], ...cells], 2);
}
