import { randomUUID } from 'node:crypto';
import { LIMITS } from '../../../storage/limits.js';
import { type NodeMeasures, storeStep } from '../../../storage/overview/steps.js';
import { Tally, together } from '../../../storage/overview/tally.js';
import type { Sql } from '../../../storage/postgres/database.js';

/** Of a node that does nothing. */
export const IDLE: NodeMeasures = {
  ...{ queued: 0, oldest_queued_s: 0, database_ms: 0, threads: 3, thread_restarts: 0, mailboxes: 0, browsers: 1 },
  ...{ browser_restarts: 0, contexts: 0, pages: 0, runs_waiting: 0, batch_items: null, draining: false },
};

/** Stores an hour of the workspace as another node has counted it: the plots of the overview are full from then on. */
export async function storeHour(db: Sql, workspaceId: string): Promise<void> {
  const nodeId = randomUUID();
  const { overview_step_ms: step_ms, overview_ms } = LIMITS;
  for (let n = 1; n < overview_ms / step_ms; n++) {
    const tally = new Tally();
    const much = 20 + 15 * Math.sin(n / 20) + (n % 5);
    for (let i = 0; i < much; i++) {
      for (const what of ['accepted', 'succeeded', 'delivered'] as const) tally.count(workspaceId, what);
      if (i % 9 === 8) for (const what of ['failed', 'undelivered'] as const) tally.count(workspaceId, what);
    }
    const workspaces = tally.take();
    for (const [, { took }] of workspaces) took.splice(5, 3, 2 * (n % 7), 30, n % 11);
    const measures = {
      ...IDLE,
      ...{ queued: n % 13, oldest_queued_s: (n % 13) / 3, database_ms: 0.5 + (n % 4) / 10, pages: n % 7 },
    };
    const step = new Date((Math.floor(Date.now() / step_ms) - n) * step_ms);
    await storeStep(db, { nodeId, step, workspaces, together: together(workspaces), measures });
  }
}
