import { StreamClient } from '../../browser-pool/social/access/stream.js';
import type { Site } from '../../browser-pool/social/site/site.js';
import {
  type ListenableConnection,
  listenableConnection,
  listenableConnections,
} from '../../storage/connections/listeners.js';
import { findProxy, type OpenProxy, openProxy } from '../../storage/connections/proxies.js';
import { endSession } from '../../storage/connections/session-effects.js';
import { type RecordedEvent, recordEvents } from '../../storage/deliveries/events-record.js';
import type { Logger } from '../../storage/log.js';
import type { NewEvent } from '../../storage/model/records.js';
import { Batcher } from '../../storage/postgres/batcher.js';
import type { Database } from '../../storage/postgres/database.js';
import type { KeyRing } from '../../storage/secrets/encryption.js';
import { sessionContext } from '../../storage/secrets/sealing.js';
import { LIMITS } from '../limits.js';
import { Listener } from './listener.js';

/** The listeners of one thread: one a ready `social` connection of its partitions. */
export interface ListenersContext {
  db: Database;
  ring: KeyRing;
  log: Logger;
  recorded(events: RecordedEvent[]): void;
  /** How long a stream may say nothing; the usual bound unless given. */
  silence_ms?: number;
}

export class Listeners {
  readonly #epochs = new Map<number, number>();
  readonly #listeners = new Map<string, { partition: number; listener: Listener }>();
  readonly #events: Batcher<{ workspaceId: string; event: NewEvent }, true>;

  readonly #client: StreamClient;

  constructor(
    site: Site,
    private readonly context: ListenersContext,
  ) {
    this.#client = new StreamClient(site);
    this.#events = new Batcher({
      maxItems: LIMITS.execution_batch_items,
      linger_ms: 0,
      concurrency: 1,
      bound: Number.POSITIVE_INFINITY, // one an open stream at most: each waits for its own before the next
      isolate: true,
      flush: (items) => this.#record(items),
    });
  }

  get size(): number {
    return this.#listeners.size;
  }

  /** The partition is this thread's: listen to what is ready in it. */
  async own(partition: number, epoch: number): Promise<void> {
    this.#epochs.set(partition, epoch);
    try {
      for (const connection of await listenableConnections(this.context.db, [partition])) this.#open(connection);
    } catch (error) {
      this.context.log.error({ err: error, partition }, 'listeners could not be opened');
    }
  }

  /** The partition is no longer this thread's; the next owner opens a gap. */
  async disown(partition: number): Promise<void> {
    this.#epochs.delete(partition);
    const mine = [...this.#listeners].filter(([, entry]) => entry.partition === partition);
    await Promise.all(mine.map(([id]) => this.#close(id, null)));
  }

  /** The connection changed: listen, listen with another session, or stop. */
  async look(connectionId: string): Promise<void> {
    try {
      const connection = await listenableConnection(this.context.db, connectionId);
      const present = this.#listeners.get(connectionId)?.listener;
      if (present && present.revision === connection?.state_revision) return;
      await this.#close(connectionId, 'connection_not_ready');
      if (connection) this.#open(connection);
    } catch (error) {
      this.context.log.error({ err: error, connection_id: connectionId }, 'listener could not be changed');
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#listeners.keys()].map((id) => this.#close(id, null)));
    await this.#events.drained();
    await this.#client.close();
  }

  #open(connection: ListenableConnection): void {
    const epoch = this.#epochs.get(connection.partition);
    if (epoch === undefined || this.#listeners.has(connection.id)) return;
    const listener = new Listener({
      db: this.context.db,
      log: this.context.log,
      connection,
      epoch,
      stream: (handlers) => {
        void this.#access(connection).then(
          (access) => {
            if (access) this.#client.open({ ...access, ...handlers });
            else handlers.onEnd({ reason: 'proxy' });
          },
          (error) => {
            this.context.log.error({ err: error, connection_id: connection.id }, 'stream cannot be opened');
            handlers.onEnd({ reason: 'connection_lost' });
          },
        );
      },
      silence_ms: this.context.silence_ms ?? LIMITS.stream_silence_ms,
      sessionEnded: async (health) => {
        await endSession(this.context.db, connection.id, connection.state_revision, epoch, health);
        if (this.#listeners.get(connection.id)?.listener !== listener) return;
        this.#listeners.delete(connection.id);
        void this.look(connection.id); // it may have another session by now
      },
      record: async (event) => {
        await this.#events.add({ workspaceId: connection.workspace_id, event });
      },
    });
    this.#listeners.set(connection.id, { partition: connection.partition, listener });
  }

  /** The session and its proxy, open; undefined while the proxy is switched off. */
  async #access(connection: ListenableConnection): Promise<{ session: string; proxy: OpenProxy } | undefined> {
    const { db, ring } = this.context;
    const proxy = await findProxy(db, connection.proxy_id);
    if (!proxy?.active) return undefined;
    const session = ring.open(connection.session_sealed, sessionContext(connection.id)).toString('utf8');
    return { session, proxy: openProxy(ring, proxy) };
  }

  async #close(connectionId: string, reason: string | null): Promise<void> {
    const entry = this.#listeners.get(connectionId);
    this.#listeners.delete(connectionId);
    await entry?.listener.close(reason).catch((error) => {
      this.context.log.warn({ err: error, connection_id: connectionId }, 'listener did not close cleanly');
    });
  }

  async #record(items: { workspaceId: string; event: NewEvent }[]): Promise<true[]> {
    const recorded: RecordedEvent[] = [];
    for (const [workspaceId, own] of Map.groupBy(items, (item) => item.workspaceId)) {
      recorded.push(
        ...(await recordEvents(
          this.context.db,
          workspaceId,
          own.map((item) => item.event),
        )),
      );
    }
    this.context.recorded(recorded);
    return items.map(() => true);
  }
}
