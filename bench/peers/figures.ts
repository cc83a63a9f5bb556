import type { Cost } from '../kit/cost/cost.js';
import { median, spreadOf } from '../kit/spread.js';

/** What a turn measured of one kind of submissions, or the medians of several turns. What it did not measure is absent. */
export interface Figures {
  submit_per_s?: number;
  p50_ms?: number;
  p99_ms?: number;
  /** From the first submission to the last end. */
  ended_per_s?: number;
  poll_per_s?: number;
  /** What the other figures stand on. */
  ended?: number;
  polls?: number;
  /** Processor time an operation, submitted and ended: of the servers' processes, and of their store. */
  server_us?: number;
  store_us?: number;
  /** The same of a poll. */
  poll_server_us?: number;
  poll_store_us?: number;
  /** What PostgreSQL logs for an operation, and what its tables and indexes take for it, kept for ever. */
  wal_bytes?: number;
  stored_bytes?: number;
}

/** By the name of what was measured: `ours read`, `ours write`, or the peer. */
export type FiguresByName = Record<string, Figures>;

/** The median of each figure over the rounds that have it. */
export function mediansOf(rounds: readonly FiguresByName[]): FiguresByName {
  const names = new Set(rounds.flatMap((round) => Object.keys(round)));
  return Object.fromEntries([...names].map((name) => [name, medianOf(rounds.map((round) => round[name] ?? {}))]));
}

function medianOf(all: Figures[]): Figures {
  const keys = new Set(all.flatMap((figures) => Object.keys(figures) as (keyof Figures)[]));
  const valuesOf = (key: keyof Figures) => all.flatMap((figures) => figures[key] ?? []);
  return Object.fromEntries([...keys].map((key) => [key, median(valuesOf(key))]));
}

/** What an operation and a poll of each took, by the servers and by their store. */
export function costsOf(rounds: readonly FiguresByName[]): Record<string, Cost> {
  const names = new Set(rounds.flatMap((round) => Object.keys(round)));
  const found = [...names].flatMap((name) => {
    const all = rounds.flatMap((round) => round[name] ?? []);
    const valuesOf = (figure: keyof Figures) => all.flatMap((one) => one[figure] ?? []);
    const cost = (
      of: string,
      server: keyof Figures,
      store: keyof Figures,
      count: keyof Figures,
      log?: keyof Figures,
    ) => {
      const [service_us, postgres_us, wal_bytes] = [valuesOf(server), valuesOf(store), log ? valuesOf(log) : []];
      if (service_us.length === 0) return [];
      const told: Cost = {
        service_us: spreadOf(service_us),
        postgres_us: spreadOf(postgres_us),
        ...(wal_bytes.length > 0 && { wal_bytes: spreadOf(wal_bytes) }),
        operations: valuesOf(count).reduce((sum, one) => sum + one, 0),
      };
      return [[`${name}, ${of}`, told] as const];
    };
    return [
      ...cost('operation', 'server_us', 'store_us', 'ended', 'wal_bytes'),
      ...cost('poll', 'poll_server_us', 'poll_store_us', 'polls'),
    ];
  });
  return Object.fromEntries(found);
}

export interface Goal {
  goal: string;
  measured: number;
  met: boolean;
}

const cpuOf = ({ server_us, store_us }: Figures = {}) => sum(server_us, store_us);
const sum = (a?: number, b?: number) => (a === undefined || b === undefined ? undefined : a + b);

/** A goal: what is measured of the figures, undefined where a part of it was not, and its bound. */
interface Aim {
  goal: string;
  of(figures: FiguresByName): number | undefined;
  /** Absent: no bound on this side. */
  least?: number;
  most?: number;
}

const ratio = (goal: string, least: number, ours: Place, theirs: Place): Aim => ({
  goal: `${goal}, at least ${least.toFixed(1)}`,
  least,
  of(figures) {
    const [a, b] = [figures[ours[0]]?.[ours[1]], figures[theirs[0]]?.[theirs[1]]];
    return a === undefined || b === undefined ? undefined : a / b;
  },
});
type Place = [name: string, figure: keyof Figures];

const AIMS: Aim[] = [
  ratio('submissions for each of BullMQ', 1, ['ours read', 'submit_per_s'], ['bullmq', 'submit_per_s']),
  ratio('submissions for each plain INSERT', 1.2, ['ours read', 'submit_per_s'], ['insert', 'submit_per_s']),
  ratio('reads ended for each job of BullMQ', 1.5, ['ours read', 'ended_per_s'], ['bullmq', 'ended_per_s']),
  ratio('writes ended for each job of BullMQ', 1, ['ours write', 'ended_per_s'], ['bullmq', 'ended_per_s']),
  ratio('polls for each of Fastify and pg', 2.5, ['ours read', 'poll_per_s'], ['pg-boss', 'poll_per_s']),
  {
    goal: 'processor µs a read, with PostgreSQL, at most 150',
    most: 150,
    of: (figures) => cpuOf(figures['ours read']),
  },
  {
    goal: 'processor µs a write, with PostgreSQL, at most 260',
    most: 260,
    of: (figures) => cpuOf(figures['ours write']),
  },
];

/**
 * The goals that these rounds can tell of, and whether each is met. A ratio is taken within a round, whose turns stand close together, and
 * the median counts: what else the machine does changes from round to round.
 */
export function goalsOf(rounds: readonly FiguresByName[]): Goal[] {
  return AIMS.flatMap(({ goal, of, least = 0, most = Number.POSITIVE_INFINITY }) => {
    const found = rounds.flatMap((round) => of(round) ?? []);
    const measured = median(found);
    return found.length === 0 ? [] : [{ goal, measured, met: measured >= least && measured <= most }];
  });
}
