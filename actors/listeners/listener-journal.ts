import type { ProviderEvent } from '../../browser-pool/social/access/frames.js';
import {
  closedGapsWithout,
  closeGap,
  listenedBefore,
  openGap,
  saveListener,
} from '../../storage/connections/listeners.js';
import type { NewEvent } from '../../storage/model/records.js';
import type { Database } from '../../storage/postgres/database.js';

/** What a listener does with its stream, as the listener route shows it. */
export type StreamState =
  | { kind: 'connecting' }
  | { kind: 'connected' }
  | { kind: 'degraded'; reason: string }
  | { kind: 'stopped'; reason: string };

export interface ListenerJournalOptions {
  db: Database;
  connectionId: string;
  /** The revision of the connection that is listened to. */
  revision: number;
  /** The epoch that the partition is held under now, or was last: a later owner's writes win. */
  epoch(): number;
  /** Called when a gap was opened. */
  gapOpened?: ((reason: string) => void) | undefined;
  /** Records an event with its deliveries; resolves after the commit. False when it was heard under another revision than the connection's. */
  record(event: NewEvent): Promise<boolean>;
}

/** What a listener writes: its row, the gaps of its stream, and events. */
export class ListenerJournal {
  readonly #options: ListenerJournalOptions;
  #lastEventId: string | null = null;
  #lastFrameAt: Date | null = null;
  /** The gap whose event is surely recorded: an event is stored once, but each try costs a statement. */
  #recordedGap: string | undefined;

  constructor(options: ListenerJournalOptions) {
    this.#options = options;
  }

  /** True when another owner's stream of this connection ended without a note. */
  listenedBefore(): Promise<boolean> {
    return listenedBefore(this.#options.db, this.#options.connectionId);
  }

  /** Notes the time of a frame, for the next `save`. */
  noteFrame(): void {
    this.#lastFrameAt = new Date();
  }

  async save(state: StreamState): Promise<void> {
    const { db, connectionId, epoch } = this.#options;
    await saveListener(db, {
      connectionId,
      epoch: epoch(),
      streamStatus: state.kind,
      status: state.kind === 'stopped' ? 'stopped' : 'running',
      reason: 'reason' in state ? state.reason : null,
      lastEventId: this.#lastEventId,
      lastFrameAt: this.#lastFrameAt,
    });
  }

  /** False, and nothing is recorded, when the connection has another revision than the one that is listened to. */
  async recordEvent(event: ProviderEvent): Promise<boolean> {
    const { connectionId, revision: heardUnder } = this.#options;
    const recorded = await this.#options.record({ connectionId, heardUnder, ...event });
    if (recorded) this.#lastEventId = event.providerEventId;
    return recorded;
  }

  /** Opens a gap unless one is open, and records its event unless it is recorded; not when a later owner listens. */
  async openGap(reason: string): Promise<void> {
    const { db, connectionId, epoch } = this.#options;
    const gap = await openGap(db, connectionId, epoch(), reason, reason === 'owner_changed');
    if (gap?.opened) this.#options.gapOpened?.(reason);
    if (!gap || gap.id === this.#recordedGap) return;
    await this.#recordGap('connection.stream_degraded', gap.id, reason);
    this.#recordedGap = gap.id;
  }

  /** Closes the open gap, if there is one. */
  closeGap(): Promise<void> {
    const { db, connectionId, epoch } = this.#options;
    return closeGap(db, connectionId, epoch());
  }

  /** Records that the stream runs again after the gap just closed, and after those whose end a lost worker did not record. */
  async recordRestored(): Promise<void> {
    const { db, connectionId } = this.#options;
    const type = 'connection.stream_restored';
    for (const gap of await closedGapsWithout(db, connectionId, type)) await this.#recordGap(type, gap, null);
  }

  async #recordGap(
    type: 'connection.stream_degraded' | 'connection.stream_restored',
    gap: string,
    reason: string | null,
  ): Promise<void> {
    await this.#options.record({
      connectionId: this.#options.connectionId,
      providerEventId: `${type}/${gap}`,
      type,
      data: { gap_id: gap, reason, last_event_id: this.#lastEventId },
    });
  }
}
