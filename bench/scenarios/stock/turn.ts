import { type Cost, mergeCosts } from '../../kit/cost/cost.js';
import { type Spread, spreadOf } from '../../kit/spread.js';

/** Which of the two databases a turn is on. */
export const SIDES = ['stock', 'embedded'] as const;
export type Side = (typeof SIDES)[number];

/** A round of turns: neither side always goes first, and what drifts over a round weighs on both alike. */
export const ORDER: readonly Side[] = ['stock', 'embedded', 'embedded', 'stock'];

export interface Figure {
  name: string;
  unit: string;
  better: 'more' | 'less';
  value: number;
  /** What the figure has to stay below on the stock server. */
  goal?: number;
}

/** What one part measured in one turn. */
export interface Turn {
  figures: Figure[];
  /** By the kind of operation. */
  costs: Readonly<Record<string, Cost>>;
  faults: string[];
}

/** A figure of all turns of both sides. */
export interface Compared extends Record<Side, Spread> {
  name: string;
  unit: string;
  goal?: number;
  /** Of the medians, stock to embedded. */
  ratio: number;
  /** How many times worse the figure is on the stock server; below 1 it is better. */
  worse: number;
}

export type TurnsBySide = Record<Side, Turn[]>;

/** What one part measured, figure by figure. Pure. Throws when a side had no turn. */
export function compare(part: string, turns: TurnsBySide): Compared[] {
  const [first] = turns.stock;
  return (first?.figures ?? []).map(({ name, unit, better, goal }) => {
    const of = (side: Side) =>
      spreadOf(
        turns[side].flatMap(({ figures }) => figures.filter((one) => one.name === name).map((one) => one.value)),
      );
    const [stock, embedded] = [of('stock'), of('embedded')];
    const ratio = stock.median / embedded.median;
    const worse = better === 'less' ? ratio : 1 / ratio;
    return { name: `${part}: ${name}`, unit, stock, embedded, ratio, worse, ...(goal !== undefined && { goal }) };
  });
}

/** What an operation of the part took on each side, by its kind and side. Pure. */
export function costsOf(part: string, turns: TurnsBySide): Record<string, Cost> {
  const kinds = Object.keys(turns.stock[0]?.costs ?? {});
  return Object.fromEntries(
    kinds.flatMap((kind) =>
      SIDES.map((side) => [
        `${part}: ${kind}, ${side}`,
        mergeCosts(turns[side].flatMap(({ costs }) => costs[kind] ?? [])),
      ]),
    ),
  );
}
