import { type ConnectionChange, changeConnection } from '../../../storage/connections/session-effects.js';
import { type RecordedEvent, recordEvents } from '../../../storage/deliveries/events-record.js';
import type { Worker } from '../../../storage/model/evidence.js';
import type { NewEvent, OperationStatus } from '../../../storage/model/records.js';
import {
  enterDispatching,
  type FinishedOperation,
  finishOperations,
  lockUnlocked,
} from '../../../storage/operations/execution.js';
import { noteInvitation, type SentInvitation } from '../../../storage/operations/simulated-invitations.js';
import {
  type HeldOperation,
  type LeftOut,
  type StartedOperation,
  type StartingOperation,
  startOperations,
  startsLeftOut,
} from '../../../storage/operations/starts.js';
import { Batcher } from '../../../storage/postgres/batcher.js';
import type { Database, Sql, Transaction } from '../../../storage/postgres/database.js';
import { isLockTimeout } from '../../../storage/postgres/liveness.js';
import { capabilities } from '../../capabilities/catalogue.js';
import { LIMITS } from '../../limits.js';
import type { OperationBatch } from '../operation-counters.js';

/** The end of an attempt with what it changes beside the operation's own row. */
export interface Finish {
  operation: FinishedOperation;
  connectionId: string;
  workspaceId: string;
  change: ConnectionChange | null;
  events: NewEvent[];
  /** An invitation that a simulated connection sent. */
  simulatedInvitation: SentInvitation | undefined;
  /** What is to start with this end, on the connection as it was: its row does not change. */
  next?: StartingOperation | undefined;
}

/** The status of the operation whose attempt ended, and what started with it. */
export interface Ended {
  status: OperationStatus;
  started: StartedOperation | undefined;
}

/** A row that an item needs is locked for longer than a batch waits: the others went without it, and it may be asked for again. */
export class RowLocked extends Error {
  constructor() {
    super('the row is locked');
  }
}

/** The connection has another session by now, or the proxy of its new pin is gone: the end's change does not apply, nothing was stored. */
export class ConnectionMoved extends Error {
  constructor() {
    super('the connection moved on');
  }
}

const LOCKED = Symbol('locked');

const WRITES = capabilities.filter(({ kind }) => kind === 'write').map(({ name }) => name);

/**
 * The three batched writes of every execution in a thread: starts, write boundaries, ends. Items that are asked for while a statement is under
 * way go into the next one. Each may be asked for again when its answer was lost. Invariants: I1 a boundary is
 * durable before it resolves; I2 an attempt's end and everything it changes commit together, or none of it does; I3 nothing of an
 * attempt that is no longer held is stored; I4 a row that is locked holds up no other: its item alone rejects.
 */
export class OperationBatches {
  readonly #starts: Batcher<StartingOperation, LeftOut | typeof LOCKED>;
  readonly #boundaries: Batcher<HeldOperation, boolean | typeof LOCKED>;
  readonly #ends: Batcher<Finish, Ended | undefined | typeof LOCKED>;

  /**
   * Starts go through `relaxed`: a start that is lost in a crash of the database leaves its operation queued, and the write
   * boundary, which is durable (I1), carries the start before it to the disk. `recorded` gets new events with their deliveries
   * once they are committed. `worker` is this thread, which the boundaries name. `flushed` is told how many items a statement takes.
   */
  constructor(
    db: Database,
    relaxed: Database,
    worker: Worker,
    recorded: (events: RecordedEvent[]) => void,
    flushed: (batch: OperationBatch, items: number) => void = () => {},
  ) {
    const options = {
      maxItems: LIMITS.execution_batch_items,
      linger_ms: 0,
      concurrency: LIMITS.execution_statements,
      bound: Number.POSITIVE_INFINITY, // one a connection at most: bounded by the connections that run
    };
    const within_ms = LIMITS.execution_division_ms;
    const startAll = async (sql: Sql, items: StartingOperation[]): Promise<LeftOut[]> => {
      const started = new Map((await startOperations(sql, items, WRITES)).map((row) => [row.operation_id, row]));
      const others = items.filter((item) => !started.has(item.id));
      const leftOut = others.length > 0 ? await startsLeftOut(sql, others) : [];
      const reasons = new Map(others.map((item, i) => [item.id, leftOut[i] as LeftOut]));
      return items.map(({ id }) => {
        const row = started.get(id);
        return row ? { kind: 'started', started: row } : (reasons.get(id) as LeftOut);
      });
    };
    this.#starts = new Batcher({
      ...options,
      divide: { tenant: ({ connectionId }) => connectionId, within_ms },
      flushed: (items) => flushed('start', items),
      flush: (items) => apartFromLocked(relaxed, items, (item) => item.id, startAll),
    });
    const enterAll = async (sql: Sql, items: HeldOperation[]) => {
      const held = await enterDispatching(sql, items, worker); // I1
      return items.map((item) => held.has(item.id));
    };
    this.#boundaries = new Batcher({
      ...options,
      divide: { tenant: ({ id }) => id, within_ms },
      flushed: (items) => flushed('boundary', items),
      flush: (items) => apartFromLocked(db, items, (item) => item.id, enterAll),
    });
    const endAll = async (sql: Transaction, items: Finish[]) => {
      const { stored, events } = await storeEnds(sql, items);
      return { events, outs: items.map((item) => stored.get(item.operation.id)) };
    };
    this.#ends = new Batcher({
      ...options,
      divide: { tenant: ({ workspaceId }) => workspaceId, within_ms },
      flushed: (items) => flushed('finish', items),
      flush: async (items) => {
        const plain = items.every(
          (item) => item.change === null && item.events.length === 0 && !item.simulatedInvitation,
        );
        const committed: RecordedEvent[] = [];
        const store = async (sql: Transaction, some: Finish[]) => {
          const { outs, events } = await endAll(sql, some);
          committed.push(...events);
          return outs;
        };
        const outs = await apartFromLocked(db, items, (item) => item.operation.id, store, !plain); // I2
        if (committed.length > 0) recorded(committed);
        return outs;
      },
    });
  }

  /** Starts an attempt, or gives the reason why it was not started. Rejects with `RowLocked`, and when the database fails. */
  async start(operation: StartingOperation): Promise<LeftOut> {
    return unlocked(await this.#starts.add(operation));
  }

  /** Makes `dispatching` durable; false when the attempt was fenced or cancelled: then nothing may leave. Rejects as `start` does. */
  async enterDispatching(operation: HeldOperation): Promise<boolean> {
    return unlocked(await this.#boundaries.add(operation));
  }

  /**
   * Ends an attempt with everything it changed, in one transaction, and gives the status of its operation; undefined when it was
   * fenced, or had ended before: nothing was stored. Starts `next` with it, if it can. Rejects as `start` does, and with `ConnectionMoved`.
   */
  async finish(end: Finish): Promise<Ended | undefined> {
    return unlocked(await this.#ends.add(end));
  }
}

function unlocked<Out>(out: Out | typeof LOCKED): Out {
  if (out === LOCKED) throw new RowLocked();
  return out;
}

/**
 * Does the work on all items; when a lock is waited for too long, once more on those whose rows are not locked, in one transaction
 * (I4). `whole`: the work is several statements; one alone is a transaction of its own.
 */
async function apartFromLocked<In, Out>(
  db: Database,
  items: In[],
  id: (item: In) => string,
  work: (tx: Transaction, items: In[]) => Promise<Out[]>,
  whole = false,
): Promise<(Out | typeof LOCKED)[]> {
  try {
    return await (whole ? db.transaction((tx) => work(tx, items)) : work(db as Sql as Transaction, items));
  } catch (error) {
    if (!isLockTimeout(error) || items.length === 1) throw error;
  }
  return db.transaction(async (tx) => {
    const free = await lockUnlocked(tx, items.map(id));
    const outs = await work(
      tx,
      items.filter((item) => free.has(id(item))),
    );
    const left = outs.values();
    return items.map((item) => (free.has(id(item)) ? (left.next().value as Out) : LOCKED));
  });
}

async function storeEnds(
  sql: Transaction,
  items: Finish[],
): Promise<{ stored: Map<string, Ended>; events: RecordedEvent[] }> {
  const stored = await finishOperations(
    sql,
    items.map((item) => item.operation),
    new Map(items.flatMap(({ operation, next }) => (next ? [[operation.id, next] as const] : []))),
    WRITES,
  );
  const kept = items.filter((item) => stored.has(item.operation.id)); // I3
  for (const { operation, simulatedInvitation: invitation, connectionId } of kept) {
    if (invitation) await noteInvitation(sql, { operationId: operation.id, connectionId, ...invitation });
  }
  // In one order: the removal of a proxy locks many connections as well.
  const changes = kept.flatMap(({ change }) => change ?? []).sort((a, b) => (a.connectionId < b.connectionId ? -1 : 1));
  for (const change of changes) if (!(await changeConnection(sql, change))) throw new ConnectionMoved();
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
  return { stored, events };
}
