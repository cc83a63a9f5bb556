import { setTimeout as delay } from 'node:timers/promises';
import type { ProviderEvent, StreamFrame } from '../../browser-pool/social/access/frames.js';
import type { ListenableConnection, ListenedSession } from '../../storage/connections/listeners.js';
import type { EndedHealth } from '../../storage/connections/session-effects.js';
import type { Logger } from '../../storage/log/log.js';
import type { NewEvent } from '../../storage/model/records.js';
import type { Database } from '../../storage/postgres/database.js';
import { Backoff } from '../../storage/process/backoff.js';
import type { FairSlots } from '../../storage/process/fair-slots.js';
import { checkStep, type Steps } from '../../storage/process/steps.js';
import { LIMITS } from '../limits.js';
import { ListenerJournal, type StreamState } from './listener-journal.js';
import type { StreamLoss } from './stream-loss.js';
import { type FrameWork, readStream } from './stream-reader.js';
import type { StreamHandlers } from './stream-source.js';

export interface ListenerOptions {
  db: Database;
  log: Logger;
  connection: ListenableConnection;
  /** The epoch that the partition is held under now, or was last. */
  epoch(): number;
  /** Whoever opens a stream takes one of these first, until the first frame. */
  openings: FairSlots;
  /** How long it waits before its first stream. */
  delay_ms?: number;
  /** Opens the connection's stream. Never throws. */
  stream(handlers: StreamHandlers): void;
  /**
   * Called when the provider refuses the session or the account: changes the connection, unless it has another session by now. Hurries when
   * the signal aborts.
   */
  sessionEnded(health: EndedHealth, signal: AbortSignal): Promise<void>;
  /** How long a stream may be silent. */
  silence_ms: number;
  /** Called when a gap of its stream was opened. */
  gapOpened?: ((reason: string) => void) | undefined;
  /** Records an event with its deliveries; resolves after the commit. False when it was heard under another revision than the connection's. */
  record(event: NewEvent): Promise<boolean>;
  /** Called after each change of its state. */
  onState?: (state: StreamState) => void;
}

type Kind = StreamState['kind'];

/** A state that is entered again is saved again: `connected` with each event, `connecting` after a failure of the database. */
const STEPS: Steps<Kind> = {
  connecting: ['connecting', 'connected', 'degraded', 'stopped'],
  connected: ['connected', 'connecting', 'degraded', 'stopped'],
  degraded: ['connecting', 'stopped'],
  stopped: ['connecting', 'stopped'],
};

/**
 * Listens to one connection's stream for as long as the connection is ready and this thread owns it (EVT-9).
 *
 *     connecting ──first frame──▶ connected ──dropped, silent──▶ degraded ──wait──▶ connecting
 *        ├──refused, silent──▶ degraded                any ──close()──▶ stopped
 *        └──logged out, restricted──▶ stopped: the connection's health changes, and no stream is asked for again (CONN-8);
 *                                        └──that change was not stored──▶ connecting, so that the refusal comes again
 *
 * I1 a gap opens when a stream that ran is lost (dropped, silent, another owner's) or closed, whatever for, and closes at the first
 *    frame of a stream: an open stream without frames may be deaf. Events in between are not fetched;
 * I2 an event is recorded before it counts as the last one heard;
 * I3 the wait before the next stream doubles until a stream sends a frame, so that a provider that refuses gets ever fewer requests;
 * I4 it asks neither the provider nor the database for anything before it has its turn among the openings of its thread;
 * I5 an event is recorded under the revision that it was heard under, and under no other (EVT-25). What a stream says that is no longer the
 *    connection's is missed, which a gap tells.
 */
export class Listener {
  /** Resolves when it listens no more. */
  readonly ended: Promise<void>;
  readonly #options: ListenerOptions;
  readonly #journal: ListenerJournal;
  readonly #stop = new AbortController();
  readonly #backoff = new Backoff({
    first_ms: LIMITS.stream_retry_ms,
    cap_ms: LIMITS.stream_retry_cap_ms,
    jitter: true,
  });
  #state: StreamState = { kind: 'connecting' };
  /** True once a stream of the connection ran, here or at another owner: from then on a loss is a gap. */
  #ran = false;
  #begun = false;
  /** Gives up the turn among the openings. */
  #opened = () => {};
  #lossReason = 'owner_changed';

  constructor(options: ListenerOptions) {
    const { db, connection, epoch, gapOpened, record } = options;
    this.#options = options;
    this.#journal = new ListenerJournal({
      db,
      connectionId: connection.id,
      revision: connection.state_revision,
      epoch,
      gapOpened,
      record,
    });
    this.ended = this.#run();
  }

  /** False when the connection has another session or proxy now: then it needs another listener. */
  listensWith(session: ListenedSession | undefined): boolean {
    const { state_revision, proxy_id } = this.#options.connection;
    return session?.state_revision === state_revision && session.proxy_id === proxy_id;
  }

  /** Ends the stream. `reason` is what the listener route shows afterwards; null when the partition is another owner's, who writes the row. */
  async close(reason: string | null): Promise<void> {
    this.#stop.abort();
    await this.ended;
    if (reason && this.#ran) await this.#journal.openGap(reason); // I1
    if (reason) await this.#become({ kind: 'stopped', reason });
    else this.#enter({ kind: 'stopped', reason: 'owner_changed' });
  }

  async #run(): Promise<void> {
    const { connection, log, delay_ms } = this.#options;
    const { signal } = this.#stop;
    if (delay_ms) await delay(delay_ms, undefined, { signal }).catch(() => {});
    while (!signal.aborted) {
      try {
        if ((await this.#listenOnce()) === 'over') return;
      } catch (error) {
        log.warn({ err: error, connection_id: connection.id }, 'listener: it failed, trying again');
      }
      await delay(this.#backoff.next_ms(), undefined, { signal }).catch(() => {}); // I3
    }
  }

  /** One stream, in its turn. `over`: no other one is asked for. */
  async #listenOnce(): Promise<'over' | 'again'> {
    const opened = await this.#options.openings
      .acquire(this.#options.connection.workspace_id, this.#stop.signal)
      .catch(() => undefined); // I4
    if (!opened) return 'over';
    this.#opened = opened;
    const deaf = setTimeout(opened, LIMITS.stream_opening_ms);
    try {
      return await this.#listenInTurn();
    } finally {
      clearTimeout(deaf);
      opened();
    }
  }

  /** One stream and what its loss means. */
  async #listenInTurn(): Promise<'over' | 'again'> {
    if (!this.#begun) this.#ran = await this.#journal.listenedBefore();
    this.#begun = true;
    if (this.#ran) await this.#journal.openGap(this.#lossReason); // I1
    await this.#become({ kind: 'connecting' });
    const loss = await this.#listen();
    this.#lossReason = loss.reason;
    if (this.#stop.signal.aborted) return 'over';
    if (this.#ran) await this.#journal.openGap(loss.reason); // I1
    if (!loss.ended) {
      await this.#become({ kind: 'degraded', reason: loss.reason });
      return 'again';
    }
    await this.#become({ kind: 'stopped', reason: loss.reason });
    this.#opened(); // others' turn
    await this.#options.sessionEnded(loss.ended, this.#stop.signal);
    return 'over';
  }

  /** One stream from its request to its end, with heartbeats of its row. */
  async #listen(): Promise<StreamLoss> {
    const { connection, log, silence_ms } = this.#options;
    const heartbeat = setInterval(() => {
      if (this.#state.kind === 'connected') void this.#journal.save(this.#state).catch(() => {});
    }, LIMITS.stream_heartbeat_ms);
    try {
      return await readStream({
        open: (handlers) => this.#options.stream(handlers),
        stop: this.#stop.signal,
        silence_ms,
        workOf: (frame, first) => this.#workOf(frame, first),
        onFailure: (error) =>
          log.error({ err: error, connection_id: connection.id }, 'listener: an event could not be recorded'),
      });
    } finally {
      clearInterval(heartbeat);
    }
  }

  #workOf(frame: StreamFrame, first: boolean): FrameWork[] {
    this.#journal.noteFrame();
    const before: FrameWork[] = [];
    if (first) {
      this.#backoff.reset(); // I3
      this.#opened();
      this.#ran = true;
      before.push(() => this.#restore());
    }
    switch (frame.type) {
      case 'event':
        return [...before, () => this.#record(frame.event)];
      case 'unreadable':
        return [...before, () => this.#markMissed()];
      case 'connected':
      case 'heartbeat':
      case 'goodbye':
      case 'ignored':
        return before;
      default:
        return frame satisfies never;
    }
  }

  /** A stream sends frames: its gap is over. */
  async #restore(): Promise<void> {
    await this.#journal.closeGap(); // I1
    await this.#become({ kind: 'connected' });
    await this.#journal.recordRestored();
  }

  /** Something happened and it is not known what: a gap marks the time. */
  async #markMissed(): Promise<void> {
    await this.#journal.openGap('unreadable_frame');
    await this.#restore();
  }

  async #record(event: ProviderEvent): Promise<void> {
    if (await this.#journal.recordEvent(event)) return this.#become({ kind: 'connected' }); // I2, I5
    await this.#journal.openGap('session_changed');
  }

  async #become(next: StreamState): Promise<void> {
    this.#enter(next);
    await this.#journal.save(next);
  }

  #enter(next: StreamState): void {
    checkStep('listener', STEPS, this.#state.kind, next.kind);
    this.#state = next;
    this.#options.onState?.(next);
  }
}
