import type { Look } from '../../browser-pool/contract/look.js';
import type { EndedOperation } from '../../storage/model/ended-operation.js';
import { OPERATION_ERRORS } from '../../storage/model/error-codes.js';
import type { OperationStatus } from '../../storage/model/records.js';
import { Histogram, type HistogramSnapshot } from '../histogram.js';

/** Bounds of the histograms below. */
export const OPERATION_BOUNDS = {
  queued_s: [0.01, 0.1, 1, 5, 30, 60, 300, 1_800, 7_200, 43_200],
  /** Up to the deadline of an operation (OPS-17), and what its end may take. */
  running_s: [0.005, 0.025, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
  batch_items: [1, 2, 4, 8, 16, 32, 64, 128, 256],
} as const satisfies Record<string, readonly number[]>;

/** The batched statements of a thread. */
export const OPERATION_BATCHES = ['submit', 'open', 'read', 'start', 'boundary', 'finish'] as const;
export type OperationBatch = (typeof OPERATION_BATCHES)[number];

/**
 * Where rows and memory did not agree, which is nowhere in a sound system: an operation that has not ended and that no mailbox covers; a mailbox
 * that is open in its row and in nobody's memory; one that is open in memory and has no job.
 */
export const ORPHANS = ['operation', 'row', 'memory'] as const;
export type Orphan = (typeof ORPHANS)[number];

const ENDS = ['succeeded', 'failed', 'canceled', 'skipped', 'outcome_unknown'] as const satisfies OperationStatus[];

/** What a look found; why it could not tell. */
export const LOOK_FINDINGS = ['one', 'none', 'several', 'too_many_newer', 'failed'] as const;
export type LookFinding = (typeof LOOK_FINDINGS)[number];

/** What one thread did with operations since it started; plain data, for metrics. */
export interface OperationCounts {
  submitted: number;
  started: number;
  /** Partitions taken again because rows and memory did not agree, or an answer was lost. */
  reconciled: number;
  finished: Record<string, number>;
  /** By `error_code`. */
  failures: Record<string, number>;
  /** From acceptance to the first attempt in this thread, and running time, in seconds; by capability and status (`endKey`). */
  queued_s: Record<string, HistogramSnapshot>;
  running_s: Record<string, HistogramSnapshot>;
  looks: Record<LookFinding, number>;
  orphans: Record<Orphan, number>;
  /** Items of a statement. */
  batches: Record<OperationBatch, HistogramSnapshot>;
}

export const endKey = (capability: string, status: OperationStatus): string => `${capability} ${status}`;

/** Counts what becomes of the operations of one thread. Keys are names of the catalogue only, so their number is bounded. */
export class OperationCounters {
  submitted = 0;
  started = 0;
  reconciled = 0;
  // All of them from the start: the increase of a series that begins with its first count misses it.
  readonly #finished: OperationCounts['finished'] = zeros(ENDS);
  readonly #failures: OperationCounts['failures'] = zeros(Object.keys(OPERATION_ERRORS));
  readonly #queued_s = new Map<string, Histogram>();
  readonly #running_s = new Map<string, Histogram>();
  readonly #looks = zeros(LOOK_FINDINGS);
  readonly #orphans = zeros(ORPHANS);
  readonly #batches = new Map(OPERATION_BATCHES.map((name) => [name, new Histogram(OPERATION_BOUNDS.batch_items)]));

  ended({ capability, status, error_code, queued_ms, running_ms }: EndedOperation): void {
    this.#finished[status] = (this.#finished[status] ?? 0) + 1;
    if (error_code) this.#failures[error_code] = (this.#failures[error_code] ?? 0) + 1;
    const key = endKey(capability, status);
    observe(this.#queued_s, key, OPERATION_BOUNDS.queued_s, queued_ms);
    observe(this.#running_s, key, OPERATION_BOUNDS.running_s, running_ms);
  }

  looked({ found, reason }: { found: Look['found']; reason: string | null }): void {
    this.#looks[found ?? (reason === 'too_many_newer' ? 'too_many_newer' : 'failed')]++;
  }

  orphaned(found: Orphan, count: number): void {
    this.#orphans[found] += count;
  }

  flushed(batch: OperationBatch, items: number): void {
    this.#batches.get(batch)?.observe(items);
  }

  counted(): OperationCounts {
    const { submitted, started, reconciled } = this;
    return {
      ...{ submitted, started, reconciled },
      finished: { ...this.#finished },
      failures: { ...this.#failures },
      queued_s: snapshots(this.#queued_s),
      running_s: snapshots(this.#running_s),
      looks: { ...this.#looks },
      orphans: { ...this.#orphans },
      batches: snapshots(this.#batches) as OperationCounts['batches'],
    };
  }
}

function observe(histograms: Map<string, Histogram>, key: string, bounds_s: readonly number[], value_ms = 0): void {
  const histogram = histograms.get(key) ?? new Histogram(bounds_s);
  histograms.set(key, histogram);
  histogram.observe(value_ms / 1000);
}

const snapshots = (histograms: Map<string, Histogram>): Record<string, HistogramSnapshot> =>
  Object.fromEntries([...histograms].map(([key, histogram]) => [key, histogram.snapshot()]));

const zeros = <K extends string>(names: readonly K[]): Record<K, number> =>
  Object.fromEntries(names.map((name) => [name, 0])) as Record<K, number>;
