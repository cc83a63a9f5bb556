import { LIMITS as DELIVERY_LIMITS } from '../../../../actors/deliveries/limits.js';
import { LIMITS as ACTOR_LIMITS } from '../../../../actors/limits.js';
import { LIMITS as STORAGE_LIMITS } from '../../../../storage/limits.js';
import { SeededRandom } from '../../../sandbox/data/seeded-random.js';
import { LIMITS } from '../limits.js';
import { ACTORS, ACTORS_KEPT } from './actors.js';
import { DELIVERIES, DELIVERIES_KEPT } from './deliveries.js';
import { NEEDS, type ValueOf } from './progress.js';
import { type KeptLimits, type LimitRecord, type LimitRecords, MODULES, type Module } from './record.js';
import { STORAGE, STORAGE_KEPT } from './storage.js';

/** What a node has other than usual. */
export interface NodeExtremes {
  /** What the clock of its ids alone is off by. */
  ids_off_ms: number;
  /** By full names, such as `actors.poll_ms`. What is not there has its usual value. */
  limits: Record<string, number>;
}

/** Everything that is known of the limits of each module. */
export const RECORDS: Readonly<
  Record<Module, { drawn: LimitRecords; kept: KeptLimits; usual: Readonly<Record<string, unknown>> }>
> = {
  actors: { drawn: ACTORS, kept: ACTORS_KEPT, usual: ACTOR_LIMITS },
  deliveries: { drawn: DELIVERIES, kept: DELIVERIES_KEPT, usual: DELIVERY_LIMITS },
  storage: { drawn: STORAGE, kept: STORAGE_KEPT, usual: STORAGE_LIMITS },
};

const DRAWN = new Map<string, LimitRecord>(
  Object.entries(RECORDS).flatMap(([module, { drawn }]) =>
    Object.entries(drawn).map(([name, record]) => [`${module}.${name}`, record] as const),
  ),
);

/** An extreme that lets nothing get on, or that nobody knows. */
export class RefusedExtreme extends Error {
  override readonly name = 'RefusedExtreme';
}

/**
 * What each node of a run has other than usual: the same for the same seed. `set` has limits that all of them are given. Throws
 * RefusedExtreme, which names the limit.
 */
export function drawExtremes(seed: number, nodes: number, set: Readonly<Record<string, number>> = {}): NodeExtremes[] {
  return Array.from({ length: nodes }, (_, node) => {
    // Each from its own name, so that a limit that comes or goes changes none of the others.
    const randomOf = (name: string) => new SeededRandom('extremes', seed, node, name);
    const ids_off_ms = randomOf('ids').between(-LIMITS.ids_off_ms, LIMITS.ids_off_ms);
    const limits: Record<string, number> = {};
    for (const [name, record] of DRAWN) {
      const value = drawOne(randomOf(name), record);
      if (value !== undefined) limits[name] = value;
    }
    giveWay(limits);
    Object.assign(limits, set);
    refuseHopeless(limits);
    return { ids_off_ms, limits };
  });
}

/** Undefined: it keeps its usual value. */
function drawOne(random: SeededRandom, { from, to, draw, always }: LimitRecord): number | undefined {
  if (!always && random.chance(0.5)) return undefined;
  const share = edgeOf(random.next()) ?? random.next();
  if (draw === 'even') return Math.min(to, from + Math.floor(share * (to - from + 1)));
  return Math.round(from * (to / from) ** share);
}

/** One in ten is the least that is drawn, one in ten the most. */
function edgeOf(dice: number): 0 | 1 | undefined {
  if (dice < 0.1) return 0;
  return dice < 0.2 ? 1 : undefined;
}

/** Changes what was drawn until everything gets on. */
function giveWay(limits: Record<string, number>): void {
  const of = valueIn(limits);
  for (const { limit, least, most } of NEEDS) {
    const value = of(limit);
    const raised = Math.max(value, Math.ceil(least?.(of) ?? value));
    const possible = Math.min(raised, Math.floor(most?.(of) ?? raised));
    if (possible !== value) limits[limit] = possible;
  }
}

function refuseHopeless(limits: Readonly<Record<string, number>>): void {
  const of = valueIn(limits);
  for (const [name, value] of Object.entries(limits)) {
    const record = DRAWN.get(name);
    if (!record) throw new RefusedExtreme(`${name}: ${whyUnknown(name)}`);
    const [least, most] = [Math.min(record.from, usualOf(name)), Math.max(record.to, usualOf(name))];
    if (value >= least && value <= most) continue;
    const why = record.why ? `: ${record.why}` : '';
    throw new RefusedExtreme(`${name}=${value}: it may be ${least} to ${most}${why}`);
  }
  for (const { limit, least, most, why } of NEEDS) {
    const value = of(limit);
    if (least && value < least(of))
      throw new RefusedExtreme(`${limit}=${value}: beside the others it is ${least(of)} at least, else ${why}`);
    if (most && value > most(of))
      throw new RefusedExtreme(`${limit}=${value}: beside the others it is ${most(of)} at most, else ${why}`);
  }
}

function whyUnknown(name: string): string {
  const [module, limit] = name.split('.', 2);
  const why = RECORDS[module as Module]?.kept[limit ?? ''];
  return why ? `it keeps its usual value: ${why}` : 'there is no such limit';
}

function usualOf(name: string): number {
  const [module, limit] = name.split('.', 2);
  return Number(RECORDS[module as Module]?.usual[limit ?? '']);
}

const valueIn =
  (limits: Readonly<Record<string, number>>): ValueOf =>
  (name) =>
    limits[name] ?? usualOf(name);

/** How much later than usual anything may come to pass in a run with these: what lost its hint waits for polls, and leases for their end. */
export function patienceWith(extremes: readonly NodeExtremes[]): number {
  const longest = (name: string) => Math.max(...extremes.map(({ limits }) => valueIn(limits)(name)));
  if (extremes.length === 0) return 0;
  const lease_ms = Math.max(0, longest('actors.lease_ms') - ACTOR_LIMITS.lease_ms);
  return 2 * longest('actors.poll_ms') + lease_ms;
}

/** `actors.poll_ms=5,…` as a person gives it. Throws RefusedExtreme. */
export function parseSet(text: string): Record<string, number> {
  const pairs = text.split(',').map((part) => part.trim());
  return Object.fromEntries(
    pairs.filter(Boolean).map((pair) => {
      const [, name, value] = /^([a-z]+\.\w+)=(\d+)$/.exec(pair) ?? [];
      if (name === undefined) throw new RefusedExtreme(`${pair}: a limit is set as actors.poll_ms=5`);
      return [name, Number(value)];
    }),
  );
}

/** The same as the variables that `../parts/tampering.ts` takes. */
export function variablesOf({ ids_off_ms, limits }: NodeExtremes): Record<string, string> {
  const byModule = Object.entries(MODULES).map(([module, file]) => {
    const own = Object.entries(limits).filter(([name]) => name.startsWith(`${module}.`));
    return [file, Object.fromEntries(own.map(([name, value]) => [name.slice(module.length + 1), value]))];
  });
  return { CHAOS_IDS_OFF_MS: String(ids_off_ms), CHAOS_LIMITS: JSON.stringify(Object.fromEntries(byModule)) };
}

/** What the nodes have, as a person reads it: a line a module of each. */
export function extremeLines(extremes: readonly NodeExtremes[]): string[] {
  return extremes.flatMap(({ ids_off_ms, limits }, node) => [
    `node ${node}: its ids are ${Math.abs(ids_off_ms)} ms ${ids_off_ms < 0 ? 'behind' : 'ahead'}`,
    ...Object.keys(RECORDS).map((module) => `  ${module}: ${ofModule(limits, module)}`),
  ]);
}

const ofModule = (limits: Readonly<Record<string, number>>, module: string) =>
  Object.entries(limits)
    .filter(([name]) => name.startsWith(`${module}.`))
    .map(([name, value]) => `${name.slice(module.length + 1)} ${value}`)
    .join(', ');
