import type { Logger } from '../../storage/log/log.js';
import { FairSlots } from '../../storage/process/fair-slots.js';
import type { ContextLease } from '../contexts/context-lease.js';
import type { ContextOwner } from '../contexts/contexts.js';
import { WarmPages } from '../contexts/warm-pages.js';
import type { PoolLimits } from '../limits.js';
import type { RunOrder } from '../messages.js';
import type { Artifacts } from './artifacts.js';

/** What the runs of a host share. */
export interface RunResources {
  readonly limits: PoolLimits;
  readonly contexts: { lease(owner: ContextOwner): Promise<ContextLease> };
  /** Slots to execute. */
  readonly runSlots: FairSlots;
  /** Slots to have a page open. */
  readonly pageSlots: FairSlots;
  /** Pages kept open for the next run of their context. */
  readonly warmPages: WarmPages;
  /** Runs that wait for a code. */
  readonly waitingRuns: Set<{ readonly order: RunOrder }>;
  /** Set when the operator wants to see why runs fail. */
  readonly artifacts: Artifacts | undefined;
  readonly log: Logger;
}

/** The resources of one host, as large as its limits have them. */
export function shareResources(
  limits: PoolLimits,
  contexts: RunResources['contexts'],
  artifacts: Artifacts | undefined,
  log: Logger,
): RunResources {
  return {
    limits,
    contexts,
    runSlots: new FairSlots(limits.running_runs),
    pageSlots: new FairSlots(limits.pages),
    warmPages: new WarmPages(limits.warm_pages, limits.warm_page_ms),
    waitingRuns: new Set(),
    artifacts,
    log,
  };
}
