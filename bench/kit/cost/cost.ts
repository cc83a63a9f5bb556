import { type Spread, spreadOf } from '../spread.js';
import type { Usage } from './meter.js';
import { PARTS, type Part } from './parts.js';

/** What one operation took, over the rounds of a measurement. What a scenario cannot read is absent. */
export interface Cost {
  /** Microseconds of processor time of the service: of its main thread, its actors, and what is left of its process. */
  service_us: Spread;
  /** The same of PostgreSQL, or of the store that a peer has instead. */
  postgres_us: Spread;
  wal_bytes?: Spread;
  /** The same microseconds by part, with those of the clients that are processes of their own. */
  cpu_us?: Record<Part, Spread>;
  /** Cores that other processes of the machine kept busy. */
  others_cores?: Spread;
  operations: number;
}

/** Of work that was metered: what was done, and what it took. */
export interface Metered {
  operations: number;
  usage: Usage;
}

/** Pure. Throws when there is no round, or nothing was done in one. */
export function costOf(rounds: readonly Metered[]): Required<Cost> {
  if (rounds.some(({ operations }) => operations === 0)) throw new Error('nothing was done in a round');
  const spread = (of: (round: Metered) => number) => spreadOf(rounds.map(of));
  const us =
    (...parts: Part[]) =>
    ({ usage, operations }: Metered) =>
      (parts.reduce((sum, part) => sum + usage.cpu_ms[part], 0) * 1_000) / operations;
  return {
    service_us: spread(us('main', 'actors', 'helpers')),
    postgres_us: spread(us('postgres')),
    wal_bytes: spread(({ usage, operations }) => usage.wal_bytes / operations),
    cpu_us: Object.fromEntries(PARTS.map((part) => [part, spread(us(part))])) as Record<Part, Spread>,
    others_cores: spread(({ usage }) => usage.others_ms / 1_000 / usage.seconds),
    operations: rounds.reduce((sum, { operations }) => sum + operations, 0),
  };
}

/** Of several measurements one whose spreads hold the rounds of all; a part that one of them lacks is left out. Pure. Throws when there is none. */
export function mergeCosts(costs: readonly Cost[]): Cost {
  const all = (of: (cost: Cost) => Spread | undefined) => {
    const spreads = costs.map(of);
    return spreads.every((one) => one !== undefined) ? spreadOf(spreads.flatMap(({ rounds }) => rounds)) : undefined;
  };
  const [service_us, postgres_us] = [all((cost) => cost.service_us), all((cost) => cost.postgres_us)];
  if (!service_us || !postgres_us) throw new Error('nothing was measured');
  const wal_bytes = all((cost) => cost.wal_bytes);
  const others_cores = all((cost) => cost.others_cores);
  const parts = PARTS.map((part) => [part, all((cost) => cost.cpu_us?.[part])] as const);
  const cpu_us = parts.every(([, spread]) => spread !== undefined) && Object.fromEntries(parts);
  return {
    ...{ service_us, postgres_us },
    ...(wal_bytes && { wal_bytes }),
    ...(cpu_us && { cpu_us: cpu_us as Record<Part, Spread> }),
    ...(others_cores && { others_cores }),
    operations: costs.reduce((sum, { operations }) => sum + operations, 0),
  };
}
