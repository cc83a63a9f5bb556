import type { Site } from '../../browser-pool/social/site/site.js';
import {
  isPinned,
  type ListenableConnection,
  listenableConnection,
  listenableConnections,
  listenableSessions,
} from '../../storage/connections/listeners.js';
import { type EndedHealth, endSession } from '../../storage/connections/session-effects.js';
import type { RecordedEvent } from '../../storage/deliveries/events-record.js';
import type { Logger } from '../../storage/log/log.js';
import type { Tally } from '../../storage/overview/tally.js';
import type { OwnedPartition } from '../../storage/partitions/partitions.js';
import type { Database } from '../../storage/postgres/database.js';
import { FairSlots } from '../../storage/process/fair-slots.js';
import type { KeyRing } from '../../storage/secrets/encryption.js';
import { LIMITS } from '../limits.js';
import type { ProxyHealth } from '../proxy-health.js';
import type { SessionSaves } from '../session-saves.js';
import { EventBatches } from './event-batches.js';
import { Listener } from './listener.js';
import { StreamSource } from './stream-source.js';

export interface ListenersContext {
  db: Database;
  ring: KeyRing;
  log: Logger;
  /** Called with events whose commit is done. */
  recorded(events: RecordedEvent[]): void;
  /** Stores what the site renews of a session, and tells when that is done. */
  saves: Pick<SessionSaves, 'save' | 'settled' | 'use' | 'quiet'>;
  /** Is told of what streams come upon at their proxies. */
  proxies: Pick<ProxyHealth, 'saw'>;
  /** Counts what happens in workspaces; absent: nothing is counted. */
  tally?: Tally;
  /** Called when a gap of a stream was opened. */
  gapOpened?: (reason: string) => void;
  /** Called when the session that was listened with is no longer the connection's: what else works with it is to end. */
  moved?(connectionId: string): void;
  /** How long a stream may be silent; `stream_silence_ms` by default. */
  silence_ms?: number;
}

/** Why nobody listens to a ready connection whose proxy is gone. */
const NO_PIN = 'regional_proxy_unavailable';

/** A partition while this thread owns it; its listeners outlive no change of it but that of its epoch. */
interface Tenure {
  epoch: number;
}

/**
 * The listeners of one thread. Invariants:
 * I1 a ready connection with a stream, in a partition of this thread, has one listener;
 * I2 a connection of a partition that is not this thread's has none;
 * I3 looks at one connection come one after the other, so that the last one has seen the latest row;
 * I4 a change whose hint was lost is found within LIMITS.stream_poll_ms.
 */
export class Listeners {
  readonly #context: ListenersContext;
  readonly #tenures = new Map<number, Tenure>();
  readonly #listeners = new Map<string, { tenure: Tenure; listener: Listener }>();
  readonly #looks = new Map<string, Promise<void>>();
  readonly #openings = new FairSlots(LIMITS.stream_openings);
  readonly #events: EventBatches;
  readonly #source: StreamSource;
  readonly #poll: NodeJS.Timeout;

  constructor(site: Site, context: ListenersContext) {
    this.#context = context;
    this.#source = new StreamSource(site, context);
    this.#events = new EventBatches(context.db, (events) => context.recorded(events));
    this.#poll = setInterval(() => void this.lookAll(), LIMITS.stream_poll_ms).unref(); // I4
  }

  get size(): number {
    return this.#listeners.size;
  }

  /**
   * The partitions are this thread's: listens to every connection of theirs that is ready, one partition after the other. One that is this thread's
   * already goes on under this epoch. Never rejects.
   */
  async own(taken: readonly OwnedPartition[]): Promise<void> {
    const tenures = taken.map(({ id, epoch }) => {
      const tenure = this.#tenures.get(id) ?? { epoch };
      tenure.epoch = epoch;
      this.#tenures.set(id, tenure);
      return [id, tenure] as const;
    });
    for (const [id, tenure] of tenures) await this.#openAll(id, tenure);
  }

  async #openAll(partition: number, tenure: Tenure): Promise<void> {
    if (this.#tenures.get(partition) !== tenure) return; // I2
    try {
      for (const connection of await listenableConnections(this.#context.db, [partition])) {
        if (this.#tenures.get(partition) !== tenure) return; // I2
        this.#open(connection, Math.random() * LIMITS.stream_spread_ms);
      }
    } catch (error) {
      this.#context.log.error(
        { err: error, partition },
        'listeners: they could not be opened, the slow poll tries again',
      );
    }
  }

  /** The partition was taken again under this epoch, and is still this thread's: its listeners go on. */
  renew(partition: number, epoch: number): void {
    const tenure = this.#tenures.get(partition);
    if (tenure) tenure.epoch = epoch;
  }

  /** The partition is no longer this thread's; the next owner opens a gap. */
  async disown(partition: number): Promise<void> {
    const tenure = this.#tenures.get(partition);
    this.#tenures.delete(partition);
    const own = [...this.#listeners].filter(([, entry]) => entry.tenure === tenure);
    await Promise.all(own.map(([id]) => this.#close(id, null)));
  }

  /** The connection changed: listens, listens with another session, or stops. Never rejects. */
  look(connectionId: string): Promise<void> {
    const before = this.#looks.get(connectionId) ?? Promise.resolve();
    const look = before
      .then(() => this.#look(connectionId)) // I3
      .finally(() => {
        if (this.#looks.get(connectionId) === look) this.#looks.delete(connectionId);
      });
    this.#looks.set(connectionId, look);
    return look;
  }

  /** Looks at every connection whose listener is not what its row asks for (I4). Never rejects. */
  async lookAll(): Promise<void> {
    const partitions = [...this.#tenures.keys()];
    if (partitions.length === 0) return;
    try {
      const sessions = await listenableSessions(this.#context.db, partitions);
      const wanted = new Map(sessions.map((session) => [session.id, session]));
      const ids = new Set([...wanted.keys(), ...this.#listeners.keys()]);
      for (const id of ids) {
        const present = this.#listeners.get(id)?.listener;
        const session = wanted.get(id);
        if (present ? !present.listensWith(session) : session) await this.look(id);
      }
    } catch (error) {
      this.#context.log.warn({ err: error }, 'listeners: they could not be compared with their connections');
    }
  }

  /** Ends every listener; resolves when their events are recorded. */
  async close(): Promise<void> {
    clearInterval(this.#poll);
    this.#tenures.clear(); // I2
    await Promise.all([...this.#listeners.keys()].map((id) => this.#close(id, null)));
    await this.#events.drained();
    await this.#source.close();
  }

  async #look(connectionId: string): Promise<void> {
    try {
      const connection = await listenableConnection(this.#context.db, connectionId);
      if (this.#listeners.get(connectionId)?.listener.listensWith(connection)) return;
      if (this.#listeners.has(connectionId)) this.#context.moved?.(connectionId);
      const pinned = connection && isPinned(connection);
      await this.#close(connectionId, pinned ? 'session_changed' : connection ? NO_PIN : 'connection_not_ready');
      if (pinned) this.#open(connection);
    } catch (error) {
      this.#context.log.error({ err: error, connection_id: connectionId }, 'listener: it could not be changed');
    }
  }

  #open(connection: ListenableConnection, delay_ms = 0): void {
    const tenure = this.#tenures.get(connection.partition);
    if (!tenure || this.#listeners.has(connection.id)) return; // I1, I2
    const { db, log, silence_ms = LIMITS.stream_silence_ms } = this.#context;
    let session = connection.session_sealed;
    const used = (sealed: Buffer) => {
      session = sealed;
    };
    const listener: Listener = new Listener({
      db,
      log,
      connection,
      epoch: () => tenure.epoch,
      openings: this.#openings,
      delay_ms,
      stream: (handlers) => this.#source.open(connection, { ...handlers, used }),
      silence_ms,
      sessionEnded: async (health, signal) => {
        await this.#context.saves.quiet(connection.id, signal);
        await this.#endSession({ ...connection, session_sealed: session }, tenure, health, listener);
      },
      gapOpened: this.#context.gapOpened,
      record: (event) => this.#events.add(connection.workspace_id, event),
    });
    this.#listeners.set(connection.id, { tenure, listener });
  }

  /** The provider refuses the session that `listener` listened with last. */
  async #endSession(
    { id, workspace_id, state_revision: revision, session_sealed: session }: ListenableConnection,
    tenure: Tenure,
    health: EndedHealth,
    listener: Listener,
  ): Promise<void> {
    const ended = await endSession(this.#context.db, id, { revision, session }, tenure.epoch, health);
    if (ended) this.#context.tally?.count(workspace_id, 'connections');
    if (this.#listeners.get(id)?.listener !== listener) return;
    this.#listeners.delete(id);
    void this.look(id); // it may have another session by now, or the same one renewed
  }

  async #close(connectionId: string, reason: string | null): Promise<void> {
    const entry = this.#listeners.get(connectionId);
    this.#listeners.delete(connectionId);
    await entry?.listener.close(reason).catch((error) => {
      this.#context.log.warn({ err: error, connection_id: connectionId }, 'listener: it did not close cleanly');
    });
  }
}
