import { setTimeout as delay } from 'node:timers/promises';
import type { ProviderEvent, StreamFrame } from '../../browser-pool/social/access/frames.js';
import type { StreamEnd } from '../../browser-pool/social/access/stream.js';
import {
  closeGap,
  type ListenableConnection,
  type ListenerState,
  listenedBefore,
  openGap,
  saveListener,
} from '../../storage/connections/listeners.js';
import type { EndedHealth } from '../../storage/connections/session-effects.js';
import type { Logger } from '../../storage/log.js';
import type { NewEvent } from '../../storage/model/records.js';
import type { Database } from '../../storage/postgres/database.js';
import { LIMITS } from '../limits.js';

/**
 * Listens to one connection's stream for as long as it is ready and this thread owns it (EVT-9).
 *
 *     connecting ──first frame──▶ connected ──dropped, silent──▶ degraded ──wait──▶ connecting
 *        ├──refused, silent──▶ degraded                any ──close()──▶ stopped
 *        └──logged out, restricted──▶ stopped: the connection is told, and nobody asks again (CONN-8)
 *
 * Gaps: one opens when a stream that ran is lost (dropped, silent, another owner's) and closes when a stream speaks again:
 * an open one that says nothing may be deaf. What was said in between is not fetched. Events are recorded before anything
 * counts as heard. The wait doubles until a stream speaks: a provider that refuses is asked less and less.
 */
export interface ListenerOptions {
  db: Database;
  log: Logger;
  connection: ListenableConnection;
  epoch: number;
  /** Opens the stream; `onEnd` comes exactly once, last. */
  stream(handlers: {
    signal: AbortSignal;
    onFrame: (frame: StreamFrame) => Promise<void> | undefined;
    onEnd: (end: StreamEnd) => void;
  }): void;
  /** The provider refuses the session or the account: tells the connection, unless it has another session by now. */
  sessionEnded(health: EndedHealth): Promise<void>;
  /** How long a stream may say nothing. */
  silence_ms: number;
  /** Records an event with its deliveries; resolves after the commit. */
  record(event: NewEvent): Promise<void>;
}

/** Why one stream ended; with `ended`, no other of this session would fare better, and this is what the health becomes. */
interface Lost {
  reason: string;
  ended?: EndedHealth;
}

export class Listener {
  readonly #stop = new AbortController();
  readonly #state: ListenerState;
  readonly ended: Promise<void>;

  constructor(private readonly options: ListenerOptions) {
    this.#state = {
      connectionId: options.connection.id,
      epoch: options.epoch,
      streamStatus: 'connecting',
      status: 'running',
      reason: null,
      lastEventId: null,
      lastFrameAt: null,
    };
    this.ended = this.#run();
  }

  /** The session it listens with; another revision needs another listener. */
  get revision(): number {
    return this.options.connection.state_revision;
  }

  /** Ends the stream. `reason` is what the listener route shows afterwards; null when the partition is another owner's. */
  async close(reason: string | null): Promise<void> {
    this.#stop.abort();
    await this.ended;
    if (reason) await this.#save('stopped', reason);
  }

  async #run(): Promise<void> {
    const { db, connection, log } = this.options;
    let failures = 0;
    let ran = await listenedBefore(db, connection.id).catch(() => false);
    let lostReason = 'owner_changed';
    while (!this.#stop.signal.aborted) {
      try {
        if (ran) await this.#gap(lostReason);
        await this.#save('connecting', null);
        const end = await this.#listen(() => {
          failures = 0;
          ran = true;
        });
        lostReason = end.reason;
        if (this.#stop.signal.aborted) return;
        if (ran) await this.#gap(end.reason);
        if (end.ended) {
          await this.#save('stopped', end.reason);
          await this.options.sessionEnded(end.ended);
          return;
        }
        await this.#save('degraded', end.reason);
      } catch (error) {
        log.warn({ err: error, connection_id: connection.id }, 'listener failed, trying again');
      }
      const wait = Math.min(LIMITS.stream_retry_cap_ms, LIMITS.stream_retry_ms * 2 ** failures++);
      await delay(wait / 2 + Math.random() * (wait / 2), undefined, { signal: this.#stop.signal }).catch(() => {});
    }
  }

  /** One stream from its request to its end, with its silence timer and heartbeats. `spoke` is called at its first frame. */
  async #listen(spoke: () => void): Promise<Lost> {
    const end = new AbortController();
    const signal = AbortSignal.any([this.#stop.signal, end.signal]);
    let recording: Promise<void> = Promise.resolve();
    let speaking = false;
    let waiting = 0;
    const silence = setTimeout(() => end.abort(), this.options.silence_ms);
    const heartbeat = setInterval(() => {
      if (this.#state.streamStatus === 'connected') void this.#save('connected', null).catch(() => {});
    }, LIMITS.stream_heartbeat_ms);
    const inOrder = (work: () => Promise<void>) => {
      waiting++;
      recording = recording
        .then(work)
        .catch((error) => {
          this.options.log.error(
            { err: error, connection_id: this.options.connection.id },
            'event could not be recorded',
          );
          end.abort(); // it was not stored: only a new stream and its gap say so
        })
        .finally(() => {
          waiting--;
          silence.refresh(); // a stream that is held up is not silent
        });
    };
    try {
      const lost = await new Promise<StreamEnd>((onEnd) =>
        this.options.stream({
          signal,
          onEnd,
          onFrame: (frame) => {
            silence.refresh();
            this.#state.lastFrameAt = new Date();
            if (!speaking) {
              speaking = true;
              spoke();
              inOrder(() => this.#restored());
            }
            if (frame.type === 'event') inOrder(() => this.#hear(frame.event));
            // Something happened and it is not known what: the gap says when.
            if (frame.type === 'unreadable') inOrder(() => this.#missed());
            return waiting < LIMITS.stream_waiting_frames ? undefined : recording;
          },
        }),
      );
      return end.signal.aborted ? { reason: 'stream_silent' } : lossOf(lost);
    } finally {
      clearTimeout(silence);
      clearInterval(heartbeat);
      await recording;
    }
  }

  async #missed(): Promise<void> {
    await this.#gap('unreadable_frame');
    await this.#restored();
  }

  async #hear(event: ProviderEvent): Promise<void> {
    const { connection } = this.options;
    await this.options.record({ connectionId: connection.id, ...event });
    this.#state.lastEventId = event.providerEventId;
    await this.#save('connected', null);
  }

  async #restored(): Promise<void> {
    const { db, connection, epoch } = this.options;
    const gap = await closeGap(db, connection.id, epoch);
    await this.#save('connected', null);
    if (gap) await this.#tell('connection.stream_restored', gap, null);
  }

  async #gap(reason: string): Promise<void> {
    const gap = await openGap(this.options.db, this.options.connection.id, this.options.epoch, reason);
    if (gap) await this.#tell('connection.stream_degraded', gap, reason);
  }

  #tell(type: 'connection.stream_degraded' | 'connection.stream_restored', gap: string, reason: string | null) {
    const data = { gap_id: gap, reason, last_event_id: this.#state.lastEventId };
    return this.options.record({
      connectionId: this.options.connection.id,
      providerEventId: `${type}/${gap}`,
      type,
      data,
    });
  }

  async #save(streamStatus: ListenerState['streamStatus'], reason: string | null): Promise<void> {
    this.#state.streamStatus = streamStatus;
    this.#state.status = streamStatus === 'stopped' ? 'stopped' : 'running';
    this.#state.reason = reason;
    await saveListener(this.options.db, this.#state);
  }
}

function lossOf({ reason }: StreamEnd): Lost {
  switch (reason) {
    case 'logged_out':
      return { reason: 'stream_logged_out', ended: 'needs_login' };
    case 'restricted':
      return { reason: 'stream_restricted', ended: 'invalid' };
    case 'closed':
    case 'connection_lost':
    case 'timeout':
    case 'proxy':
    case 'refused':
    case 'malformed':
    case 'aborted':
      return { reason: `stream_${reason}` };
  }
}
