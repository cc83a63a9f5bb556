import { type RecordedEvent, recordEvents } from '../../storage/deliveries/events-record.js';
import type { NewEvent } from '../../storage/model/records.js';
import { Batcher } from '../../storage/postgres/batcher.js';
import type { Database } from '../../storage/postgres/database.js';
import { LIMITS } from '../limits.js';

interface WorkspaceEvent {
  workspaceId: string;
  event: NewEvent;
}

/** Records the events of all listeners of a thread together, each with its deliveries. */
export class EventBatches {
  readonly #db: Database;
  readonly #recorded: (events: RecordedEvent[]) => void;
  readonly #events: Batcher<WorkspaceEvent, true>;

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

  /** Records one event; resolves after the commit. */
  async add(workspaceId: string, event: NewEvent): Promise<void> {
    await this.#events.add({ workspaceId, event });
  }

  /** Resolves when nothing is being recorded. */
  drained(): Promise<void> {
    return this.#events.drained();
  }

  async #record(items: WorkspaceEvent[]): Promise<true[]> {
    for (const [workspaceId, own] of Map.groupBy(items, (item) => item.workspaceId)) {
      const events = own.map((item) => item.event);
      this.#recorded(await recordEvents(this.#db, workspaceId, events)); // each a commit of its own
    }
    return items.map(() => true);
  }
}
