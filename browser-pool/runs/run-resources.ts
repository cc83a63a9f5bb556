import type { ContextLease } from '../contexts/context-lease.js';
import type { ContextOwner } from '../contexts/contexts.js';
import type { WarmPages } from '../contexts/warm-pages.js';
import type { FairSemaphore } from '../fair-semaphore.js';
import type { PoolLimits } from '../limits.js';
import type { Artifacts } from './artifacts.js';

/** What the runs of a host share. */
export interface RunResources {
  readonly limits: PoolLimits;
  readonly contexts: { lease(owner: ContextOwner): Promise<ContextLease> };
  /** Slots to execute. */
  readonly runSlots: FairSemaphore;
  /** Slots to have a page open. */
  readonly pageSlots: FairSemaphore;
  /** Pages kept open for the next run of their context. */
  readonly warmPages: WarmPages;
  /** Runs that wait for a code. */
  readonly waitingRuns: Set<object>;
  /** Set when the operator wants to see why runs fail. */
  readonly artifacts: Artifacts | undefined;
}
