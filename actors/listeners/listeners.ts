import type { Site } from '../../browser-pool/social/site/site.js';
import {
  type ListenableConnection,
  listenableConnection,
  listenableConnections,
} from '../../storage/connections/listeners.js';
import { type EndedHealth, endSession } from '../../storage/connections/session-effects.js';
import type { RecordedEvent } from '../../storage/deliveries/events-record.js';
import type { Logger } from '../../storage/log.js';
import type { Database } from '../../storage/postgres/database.js';
import type { KeyRing } from '../../storage/secrets/encryption.js';
import { LIMITS } from '../limits.js';
import { EventBatches } from './event-batches.js';
import { Listener } from './listener.js';
import { StreamSource } from './stream-source.js';

export interface ListenersContext {
  db: Database;
  ring: KeyRing;
  log: Logger;
  /** Called with events whose commit is done. */
  recorded(events: RecordedEvent[]): void;
  /** How long a stream may be silent; `stream_silence_ms` by default. */
  silence_ms?: number;
}

/**
 * The listeners of one thread. Invariants:
 * I1 a ready connection with a stream, in a partition of this thread, has one listener;
 * I2 a connection of a partition that is not this thread's has none.
 */
export class Listeners {
  readonly #context: ListenersContext;
  readonly #epochs = new Map<number, number>();
  readonly #listeners = new Map<string, { partition: number; listener: Listener }>();
  readonly #events: EventBatches;
  readonly #source: StreamSource;

  constructor(site: Site, context: ListenersContext) {
    this.#context = context;
    this.#source = new StreamSource(site, context);
    this.#events = new EventBatches(context.db, (events) => context.recorded(events));
  }

  get size(): number {
    return this.#listeners.size;
  }

  /** The partition is this thread's: listens to every connection of it that is ready. Never rejects. */
  async own(partition: number, epoch: number): Promise<void> {
    this.#epochs.set(partition, epoch);
    try {
      for (const connection of await listenableConnections(this.#context.db, [partition])) this.#open(connection);
    } catch (error) {
      this.#context.log.error({ err: error, partition }, 'listeners could not be opened');
    }
  }

  /** The partition is no longer this thread's; the next owner opens a gap. */
  async disown(partition: number): Promise<void> {
    this.#epochs.delete(partition);
    const own = [...this.#listeners].filter(([, entry]) => entry.partition === partition);
    await Promise.all(own.map(([id]) => this.#close(id, null)));
  }

  /** The connection changed: listens, listens with another session, or stops. Never rejects. */
  async look(connectionId: string): Promise<void> {
    try {
      const connection = await listenableConnection(this.#context.db, connectionId);
      const present = this.#listeners.get(connectionId)?.listener;
      if (present && present.revision === connection?.state_revision) return;
      await this.#close(connectionId, 'connection_not_ready');
      if (connection) this.#open(connection);
    } catch (error) {
      this.#context.log.error({ err: error, connection_id: connectionId }, 'listener could not be changed');
    }
  }

  /** Ends every listener; resolves when their events are recorded. */
  async close(): Promise<void> {
    await Promise.all([...this.#listeners.keys()].map((id) => this.#close(id, null)));
    await this.#events.drained();
    await this.#source.close();
  }

  #open(connection: ListenableConnection): void {
    const epoch = this.#epochs.get(connection.partition);
    if (epoch === undefined || this.#listeners.has(connection.id)) return; // I1, I2
    const { db, log, silence_ms = LIMITS.stream_silence_ms } = this.#context;
    const listener: Listener = new Listener({
      db,
      log,
      connection,
      epoch,
      stream: (handlers) => this.#source.open(connection, handlers),
      silence_ms,
      sessionEnded: (health) => this.#endSession(connection, epoch, health, listener),
      record: (event) => this.#events.add(connection.workspace_id, event),
    });
    this.#listeners.set(connection.id, { partition: connection.partition, listener });
  }

  /** The provider refuses the session that `listener` listens with. */
  async #endSession(
    { id, state_revision }: ListenableConnection,
    epoch: number,
    health: EndedHealth,
    listener: Listener,
  ): Promise<void> {
    await endSession(this.#context.db, id, state_revision, epoch, health);
    if (this.#listeners.get(id)?.listener !== listener) return;
    this.#listeners.delete(id);
    void this.look(id); // it may have another session by now
  }

  async #close(connectionId: string, reason: string | null): Promise<void> {
    const entry = this.#listeners.get(connectionId);
    this.#listeners.delete(connectionId);
    await entry?.listener.close(reason).catch((error) => {
      this.#context.log.warn({ err: error, connection_id: connectionId }, 'listener did not close cleanly');
    });
  }
}
