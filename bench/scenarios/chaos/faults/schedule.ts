import { SeededRandom } from '../../../sandbox/data/seeded-random.js';
import { LIMITS } from '../limits.js';
import { FAULT_KINDS, type FaultKind, type Hit, KINDS } from './kinds.js';

/** A fault that is going to be tried. */
export interface PlannedFault {
  kind: FaultKind;
  /** Which node, account or receiver, from 0. */
  target: number;
  /** From the begin of the load. */
  at_ms: number;
  lasts_ms: number;
  /** What a kind makes of it: a direction, an amount. From 0 to 1. */
  dice: number;
}

export interface ScheduleOptions {
  seed: number;
  /** How long the load lasts. */
  duration_ms: number;
  /** How many there are of what can be hit. */
  targets: Record<Hit, number>;
  /** Between two faults, on average. */
  every_ms: number;
  /** Kinds that this machine cannot make. */
  without: ReadonlySet<FaultKind>;
}

/**
 * The faults of a run, by their begin: the same options give the same faults. Every kind comes once before any comes again.
 * A fault of a part that has one already begins when that one has ended; faults that would not fit are left out.
 */
export function planFaults({ seed, duration_ms, targets, every_ms, without }: ScheduleOptions): PlannedFault[] {
  const random = new SeededRandom('chaos', seed);
  const end_ms = duration_ms - LIMITS.quiet_end_ms;
  const busyUntil = new Map<string, number>();
  const planned: PlannedFault[] = [];
  let bag: FaultKind[] = [];
  for (let slot_ms = LIMITS.first_fault_ms; slot_ms < end_ms; slot_ms += every_ms * (0.5 + random.next())) {
    if (bag.length === 0) {
      bag = shuffled(
        FAULT_KINDS.filter((kind) => !without.has(kind)),
        random,
      );
    }
    const kind = bag.pop();
    if (!kind) break;
    const { hits, part, lasts_ms } = KINDS[kind];
    const target = random.between(0, Math.max(1, targets[hits]) - 1);
    const lasts = random.between(...lasts_ms);
    const dice = random.next();
    // The network forgets its faults all at once: it has one at a time.
    const place = hits === 'account' ? hits : `${hits} ${target} ${part}`;
    const at_ms = Math.round(Math.max(slot_ms, busyUntil.get(place) ?? 0));
    const fits_ms = Math.min(lasts, Math.round(end_ms - at_ms));
    if (fits_ms < lasts_ms[0]) continue;
    busyUntil.set(place, at_ms + fits_ms + LIMITS.fault_pause_ms);
    planned.push({ kind, target, at_ms, lasts_ms: fits_ms, dice });
  }
  return planned.sort((a, b) => a.at_ms - b.at_ms);
}

function shuffled<T>(list: T[], random: SeededRandom): T[] {
  for (let last = list.length - 1; last > 0; last--) {
    const other = random.between(0, last);
    [list[last], list[other]] = [list[other] as T, list[last] as T];
  }
  return list;
}

/** The schedule as a person reads it, a line a fault. */
export function scheduleLines(planned: readonly PlannedFault[]): string[] {
  return planned.map(({ kind, target, at_ms, lasts_ms }) => {
    const { hits, means } = KINDS[kind];
    const where = hits === 'database' ? hits : `${hits} ${target}`;
    const when = `${(at_ms / 1_000).toFixed(1).padStart(7)} s`;
    return `${when} ${`${(lasts_ms / 1_000).toFixed(1)} s`.padStart(7)}  ${where.padEnd(11)} ${kind}: ${means}`;
  });
}
