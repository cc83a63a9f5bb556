import type { EndedOperation } from '../model/ended-operation.js';
import { timeOfId } from '../model/id-time.js';
import { bucketOf, noTimes } from './took.js';

/** What happened in a workspace in some time. */
export interface WorkspaceCounts {
  accepted: number;
  succeeded: number;
  failed: number;
  canceled: number;
  unknown: number;
  /** Operations that began to wait for their user. */
  waits: number;
  /** Operations that began to run, or were put back to be tried again. */
  moves: number;
  /** Operations that went on, or ended, after they had waited for their user. */
  resumes: number;
  delivered: number;
  undelivered: number;
  /** Changes of connections and of subscriptions. */
  connections: number;
  subscriptions: number;
  /** Operations that ended, by how long that took from their acceptance (`TOOK_ms`). */
  took: number[];
}

export type Counted = Exclude<keyof WorkspaceCounts, 'took'>;
/** Those of a workspace, by its id; plain data. */
export type Tallied = [workspaceId: string, counts: WorkspaceCounts][];

const ENDS: Readonly<Record<string, Counted>> = {
  succeeded: 'succeeded',
  skipped: 'succeeded',
  failed: 'failed',
  canceled: 'canceled',
  outcome_unknown: 'unknown',
};

const nothing = (): WorkspaceCounts => ({
  ...{ accepted: 0, succeeded: 0, failed: 0, canceled: 0, unknown: 0, waits: 0, moves: 0, resumes: 0 },
  ...{ delivered: 0, undelivered: 0, connections: 0, subscriptions: 0 },
  took: noTimes(),
});

/** Counts what happens, by workspace, until it is taken: a few additions each. */
export class Tally {
  #counts = new Map<string, WorkspaceCounts>();

  count(workspaceId: string, what: Counted): void {
    this.#of(workspaceId)[what]++;
  }

  ended({ id, workspace_id, status }: EndedOperation): void {
    const counts = this.#of(workspace_id);
    const end = ENDS[status];
    if (end) counts[end]++;
    // Two clocks, where one node accepted it and another ended it.
    const bucket = bucketOf(Math.max(0, Date.now() - timeOfId(id)));
    counts.took[bucket] = (counts.took[bucket] ?? 0) + 1;
  }

  /** Adds what another has counted. */
  add(tallied: Tallied): void {
    for (const [workspaceId, counts] of tallied) addTo(this.#of(workspaceId), counts);
  }

  /** All that was counted since it was last taken. */
  take(): Tallied {
    const taken = [...this.#counts];
    this.#counts = new Map();
    return taken;
  }

  #of(workspaceId: string): WorkspaceCounts {
    const counts = this.#counts.get(workspaceId) ?? nothing();
    this.#counts.set(workspaceId, counts);
    return counts;
  }
}

/** All of them together. */
export function together(tallied: Tallied): WorkspaceCounts {
  const sum = nothing();
  for (const [, counts] of tallied) addTo(sum, counts);
  return sum;
}

function addTo(sum: WorkspaceCounts, { took, ...counts }: WorkspaceCounts): void {
  for (const [what, count] of Object.entries(counts) as [Counted, number][]) sum[what] += count;
  for (const [bucket, count] of took.entries()) sum.took[bucket] = (sum.took[bucket] ?? 0) + count;
}
