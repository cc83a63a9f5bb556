import type { OwnedPartition } from '../../../storage/partitions/partitions.js';

/** How many rows a state of the tables has. `operations` is a multiple of `connections`. */
export interface Sizes {
  workspaces: number;
  connections: number;
  operations: number;
  /** And as many deliveries and attempts of them. */
  events: number;
  /** Of each kind, in the partition `BUSY`. */
  jobs: number;
}

export const SMALL: Sizes = { workspaces: 3, connections: 10, operations: 60, events: 40, jobs: 20 };
/** Large enough that a plan which reads a whole table reads far more than the bounds of any statement. */
export const LARGE: Sizes = { workspaces: 100, connections: 8_000, operations: 40_000, events: 25_000, jobs: 10_000 };
/** As LARGE, as a service of some months has it. */
export const HUGE: Sizes = {
  ...{ workspaces: 200, connections: 20_000, operations: 200_000, events: 100_000, jobs: 50_000 },
};

/** Half of the connections, with their subscriptions and jobs, and all of the backlog are in this partition. */
export const BUSY = 7;
export const EPOCH = 1;
export const NODE = '00000000-0000-4000-8000-00000000000a';
export const ALL_PARTITIONS: OwnedPartition[] = Array.from({ length: 64 }, (_, id) => ({ id, epoch: EPOCH }));

/** Items of a batch. */
export const BATCH = 16;

export type Kind =
  | 'workspace'
  | 'connection'
  | 'operation'
  | 'event'
  | 'subscription'
  | 'delivery'
  | 'attempt'
  | 'other';
const DIGITS: Record<Kind, string> = {
  ...{ workspace: '001', connection: '002', operation: '003', event: '004', subscription: '005' },
  ...{ delivery: '006', attempt: '007', other: '008' },
};
const BASE_ms = 1_600_000_000_000;

/** The id of the row of this number: in the order of the numbers, as the service's own ids are in that of time. */
export function idOf(kind: Kind, n: number): string {
  const time = (BASE_ms + n).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8${DIGITS[kind]}-${n.toString(16).padStart(12, '0')}`;
}

/** The same as SQL, of a number `n` (an expression). */
export const idSql = (kind: Kind, n: string): string =>
  `(lpad(to_hex(${BASE_ms} + ${n}), 12, '0') || '70008${DIGITS[kind]}' || lpad(to_hex(${n}), 12, '0'))::uuid`;
