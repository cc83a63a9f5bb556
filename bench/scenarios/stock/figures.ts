import typia from 'typia';
import type { Cost } from '../../kit/cost/cost.js';
import type { Report } from '../../kit/scenario.js';
import type { Spread } from '../../kit/spread.js';
import type { Summary } from '../../load/rounds.js';
import type { Figure, Turn } from './turn.js';

type Rates = Pick<Summary, 'per_second' | 'p50_ms'>;

const assertRates = typia.createAssert<Rates>();
const assertKinds = typia.createAssert<{ measured: Record<string, Rates> }>();
const assertNodes = typia.createAssert<{ measured: { nodes: number; summary: Rates }[] }>();
const assertDeliveries = typia.createAssert<{ perSecond: number }>();
const assertWait = typia.createAssert<{ p50_ms: Spread; p99_ms: Spread }>();
const assertCosts = typia.createAssert<{ costs: Record<string, Cost> }>();

const rate = (name: string, value: number): Figure => ({ name, unit: '/s', better: 'more', value });
const time = (name: string, value: number): Figure => ({ name, unit: 'ms', better: 'less', value });

const ratesOf = (data: unknown): Figure[] => {
  const { per_second, p50_ms } = assertRates(data);
  return [rate('rate', per_second.median), time('p50', p50_ms.median)];
};

/** What is compared of the report of each scenario, by its name. */
const FIGURES: Record<string, (data: unknown) => Figure[]> = {
  submit: ratesOf,
  poll: ratesOf,
  'end-to-end': (data) =>
    Object.entries(assertKinds(data).measured).map(([kind, { per_second }]) => rate(kind, per_second.median)),
  deliveries: (data) => [rate('rate', assertDeliveries(data).perSecond)],
  wait: (data) => {
    const { p50_ms, p99_ms } = assertWait(data);
    return [time('p50', p50_ms.median), time('p99', p99_ms.median)];
  },
  nodes: (data) =>
    assertNodes(data).measured.map(({ nodes, summary }) => rate(`${nodes} at work`, summary.per_second.median)),
};

/** The scenarios that are compared, in the order of their turns. */
export const COMPARED: readonly string[] = Object.keys(FIGURES);

/** The turn that a run of this scenario was. Throws when its report lacks what is compared. */
export function turnOf(scenario: string, { data, faults }: Report): Turn {
  return { figures: FIGURES[scenario]?.(data) ?? [], costs: assertCosts(data).costs, faults };
}
