import { type RecordedEvent, recordHeard } from '../../storage/deliveries/events-record.js';
import type { NewEvent } from '../../storage/model/records.js';
import { Batcher } from '../../storage/postgres/batcher.js';
import type { Database, Transaction } from '../../storage/postgres/database.js';
import { LIMITS } from '../limits.js';

interface WorkspaceEvent {
  workspaceId: string;
  event: NewEvent;
}

/** Records the events of all listeners of a thread together, each with its deliveries. */
export class EventBatches {
  readonly #db: Database;
  readonly #recorded: (events: RecordedEvent[]) => void;
  readonly #events: Batcher<WorkspaceEvent, boolean>;

  /** `recorded` is called after each commit. */
  constructor(db: Database, recorded: (events: RecordedEvent[]) => void) {
    this.#db = db;
    this.#recorded = recorded;
    this.#events = new Batcher({
      maxItems: LIMITS.execution_batch_items,
      linger_ms: 0,
      concurrency: 1,
      bound: Number.POSITIVE_INFINITY, // one an open stream at most: each waits for its own before the next
      divide: { tenant: ({ workspaceId }) => workspaceId, within_ms: LIMITS.execution_division_ms },
      flush: (items) => this.#record(items),
    });
  }

  /** Records one event; resolves after the commit. False for one that was heard under another revision than the connection's. */
  add(workspaceId: string, event: NewEvent): Promise<boolean> {
    return this.#events.add({ workspaceId, event });
  }

  /** Resolves when nothing is being recorded. */
  drained(): Promise<void> {
    return this.#events.drained();
  }

  async #record(items: WorkspaceEvent[]): Promise<boolean[]> {
    const fenced = new Set<NewEvent>();
    for (const [workspaceId, own] of Map.groupBy(items, (item) => item.workspaceId)) {
      const events = own.map((item) => item.event);
      const record = (tx: Transaction) => recordHeard(tx, workspaceId, events);
      const { recorded, refused } = await this.#db.transaction(record); // each workspace's a commit of its own
      this.#recorded(recorded);
      for (const event of refused) fenced.add(event);
    }
    return items.map(({ event }) => !fenced.has(event));
  }
}
