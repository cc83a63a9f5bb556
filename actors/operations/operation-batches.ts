import { type ConnectionChange, changeConnection } from '../../storage/connections/session-effects.js';
import { type RecordedEvent, recordEvents } from '../../storage/deliveries/events-record.js';
import type { NewEvent } from '../../storage/model/records.js';
import {
  enterDispatching,
  type FinishedOperation,
  finishOperations,
  type HeldOperation,
  type StartedOperation,
  type StartingOperation,
  startOperations,
} from '../../storage/operations/execution.js';
import { noteInvitation } from '../../storage/operations/simulated-invitations.js';
import { Batcher } from '../../storage/postgres/batcher.js';
import type { Database, Sql } from '../../storage/postgres/database.js';
import { causedByOne } from '../../storage/postgres/liveness.js';
import { LIMITS } from '../limits.js';

/** The end of an attempt with what it changes beside the operation's own row. */
export interface Finish {
  operation: FinishedOperation;
  connectionId: string;
  workspaceId: string;
  change: ConnectionChange | null;
  events: NewEvent[];
  /** Recipient of a simulated invitation. */
  simulatedInvitation: string | undefined;
}

/**
 * The three batched writes of every execution in a thread: starts, write boundaries, ends. What is asked for while a statement
 * is under way goes into the next one. Invariants: I1 a boundary is durable before it resolves; I2 an attempt's end and
 * everything it changes commit together, or none of it does; I3 nothing of an attempt that is no longer held is stored.
 */
export class OperationBatches {
  readonly #starts: Batcher<StartingOperation, StartedOperation | undefined>;
  readonly #boundaries: Batcher<HeldOperation, boolean>;
  readonly #ends: Batcher<Finish, boolean>;

  /**
   * Starts go through `relaxed`: a start that is lost in a crash of the database leaves its operation queued, and the write
   * boundary, which is durable (I1), carries the start before it to the disk. `recorded` gets new events with their deliveries
   * once they are committed.
   */
  constructor(db: Database, relaxed: Database, recorded: (events: RecordedEvent[]) => void) {
    const options = {
      maxItems: LIMITS.execution_batch_items,
      linger_ms: 0,
      concurrency: LIMITS.execution_statements,
      bound: Number.POSITIVE_INFINITY, // one a connection at most: bounded by the connections that run
      isolate: causedByOne,
    };
    this.#starts = new Batcher({
      ...options,
      flush: async (items) => {
        const started = new Map((await startOperations(relaxed, items)).map((row) => [row.operation_id, row]));
        return items.map((item) => started.get(item.id));
      },
    });
    this.#boundaries = new Batcher({
      ...options,
      flush: async (items) => {
        const held = await enterDispatching(db, items); // I1
        return items.map((item) => held.has(item.id));
      },
    });
    this.#ends = new Batcher({
      ...options,
      flush: async (items) => {
        const plain = items.every(
          (item) => item.change === null && item.events.length === 0 && !item.simulatedInvitation,
        );
        const { held, events } = plain
          ? await storeEnds(db, items)
          : await db.transaction((tx) => storeEnds(tx, items)); // I2
        if (events.length > 0) recorded(events);
        return items.map((item) => held.has(item.operation.id));
      },
    });
  }

  /** Starts an attempt; undefined when the operation is no longer queued, or the epoch is stale. */
  start(operation: StartingOperation): Promise<StartedOperation | undefined> {
    return this.#starts.add(operation);
  }

  /** Makes `dispatching` durable; false when the attempt was fenced or cancelled: then nothing may leave. */
  enterDispatching(operation: HeldOperation): Promise<boolean> {
    return this.#boundaries.add(operation);
  }

  /** Ends an attempt with everything it changed, in one transaction; false when it was fenced: nothing was stored. */
  finish(end: Finish): Promise<boolean> {
    return this.#ends.add(end);
  }
}

async function storeEnds(sql: Sql, items: Finish[]): Promise<{ held: Set<string>; events: RecordedEvent[] }> {
  const held = await finishOperations(
    sql,
    items.map((item) => item.operation),
  );
  const kept = items.filter((item) => held.has(item.operation.id)); // I3
  for (const { change, operation, simulatedInvitation: recipient, connectionId } of kept) {
    if (recipient) await noteInvitation(sql, { operationId: operation.id, connectionId, recipient });
    if (change && !(await changeConnection(sql, change))) {
      throw new Error(`connection ${change.connectionId} left revision ${change.expectedRevision} under a lease`);
    }
  }
  const events: RecordedEvent[] = [];
  // In one order: what is recorded stays locked until the commit, and two batches must not wait for each other.
  const workspaces = [...Map.groupBy(kept, (item) => item.workspaceId)].sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [workspaceId, ends] of workspaces) {
    events.push(
      ...(await recordEvents(
        sql,
        workspaceId,
        ends.flatMap((end) => end.events),
      )),
    );
  }
  return { held, events };
}
