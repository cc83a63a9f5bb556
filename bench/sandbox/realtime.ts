import type { ServerResponse } from 'node:http';
import { refusal } from './http/answer.js';
import type { Dialect } from './http/dialect.js';
import type { Route } from './http/exchange.js';
import { LIMITS } from './limits.js';
import type { Session } from './state/sessions.js';
import { unguessable } from './state/sessions.js';

/** What an activity frame reports. */
export type ActivityType =
  | 'message_received'
  | 'message_sent'
  | 'sponsored_inmail_received'
  | 'custom_connection_request_accepted';

export type Activity = {
  id: string;
  type: ActivityType;
  at: number;
  payload: Record<string, unknown>;
};

/** Who reads a stream, and in which words. */
interface Listener {
  session: Session;
  dialect: Dialect;
}

/** What the site does with the streams of an account: send, keep open without a frame, or refuse. */
type StreamMode = 'speaking' | 'silent' | 'dropped';

/**
 * The open event streams. An account's streams are `speaking`; the control API makes them `silent` (open, but not
 * even a heartbeat) or `dropped` (closed, new ones refused), and `speaking` again. Nothing is sent later:
 * what happens while no speaking stream is open shows in conversations only.
 */
export class Streams {
  readonly #open = new Map<string, Map<ServerResponse, Listener>>();
  readonly #modes = new Map<string, StreamMode>();
  readonly #remembered = new Map<string, Activity>();
  readonly #heartbeat = setInterval(() => this.#beat(), LIMITS.heartbeat_ms).unref();

  /** The stream endpoint. */
  routes(): Route[] {
    return [
      {
        method: 'GET',
        path: '/realtime',
        access: 'api',
        capabilities: [],
        answer: (exchange) => {
          const { session, viewer, dialect } = exchange;
          if (session === null || this.#modeOf(viewer.username) === 'dropped') {
            return refusal(503, 'stream_unavailable', 'The stream is not available.');
          }
          return { stream: (response) => this.#add(viewer.username, { session, dialect }, response) };
        },
      },
    ];
  }

  /** Sends one activity to every speaking stream of the account. Gives its id and how many streams it went to. */
  emit(
    username: string,
    type: ActivityType,
    payload: Record<string, unknown>,
    id = `ev-${unguessable()}`,
  ): { id: string; streams: number } {
    const activity = { id, type, at: Date.now(), payload };
    this.#remembered.set(id, activity);
    const [oldest] = this.#remembered.keys();
    if (this.#remembered.size > LIMITS.remembered_frames && oldest !== undefined) this.#remembered.delete(oldest);
    return { id, streams: this.#send(username, 'activity', activity) };
  }

  /** Sends an activity once more under its own id; null when it is no longer remembered. */
  repeat(username: string, id: string): { id: string; streams: number } | null {
    const activity = this.#remembered.get(id);
    return activity === undefined ? null : { id, streams: this.#send(username, 'activity', activity) };
  }

  /** Changes the mode of the account's streams; gives how many are open after it. */
  setMode(username: string, mode: StreamMode): number {
    this.#modes.set(username, mode);
    if (mode === 'dropped') for (const response of this.#of(username).keys()) response.destroy();
    return mode === 'dropped' ? 0 : this.#of(username).size;
  }

  /** Closes the streams of a session that has ended. */
  endSession(session: Session): void {
    for (const [response, { session: owner, dialect }] of this.#of(session.username)) {
      if (owner.token === session.token) response.end(frame(dialect, 'goodbye', { reason: 'session_ended' }));
    }
  }

  /** The network goes down. */
  close(): void {
    clearInterval(this.#heartbeat);
    for (const streams of this.#open.values()) {
      for (const [response, { dialect }] of streams) response.end(frame(dialect, 'goodbye', { reason: 'restart' }));
    }
  }

  #add(username: string, listener: Listener, response: ServerResponse): void {
    const streams = this.#of(username);
    streams.set(response, listener);
    this.#open.set(username, streams);
    response.on('close', () => streams.delete(response));
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    response.flushHeaders();
    if (this.#modeOf(username) === 'speaking') {
      response.write(frame(listener.dialect, 'connected', { streamId: `st-${unguessable()}`, at: Date.now() }));
    }
  }

  #of(username: string): Map<ServerResponse, Listener> {
    return this.#open.get(username) ?? new Map();
  }

  #modeOf(username: string): StreamMode {
    return this.#modes.get(username) ?? 'speaking';
  }

  #send(username: string, event: string, data: Record<string, unknown>): number {
    if (this.#modeOf(username) !== 'speaking') return 0;
    const streams = this.#of(username);
    for (const [response, { dialect }] of streams) response.write(frame(dialect, event, data));
    return streams.size;
  }

  #beat(): void {
    for (const username of this.#open.keys()) this.#send(username, 'heartbeat', { at: Date.now() });
  }
}

/** One frame; an activity's carries its id. */
function frame(dialect: Dialect, event: string, data: Record<string, unknown>): string {
  const said = dialect.frame(event, data);
  const id = event === 'activity' ? `id: ${data.id}\n` : '';
  return `${id}event: ${said.event}\ndata: ${JSON.stringify(said.data)}\n\n`;
}
