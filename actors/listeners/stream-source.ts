import type { Renewal } from '../../browser-pool/session.js';
import type { StreamFrame } from '../../browser-pool/social/access/frames.js';
import { StreamClient, type StreamEnd } from '../../browser-pool/social/access/stream.js';
import type { Site } from '../../browser-pool/social/site/site.js';
import { type ListenableConnection, listenableConnection } from '../../storage/connections/listeners.js';
import { findProxy, openProxy, type ProxyRow } from '../../storage/connections/proxies.js';
import type { Logger } from '../../storage/log/log.js';
import type { Database } from '../../storage/postgres/database.js';
import type { KeyRing } from '../../storage/secrets/encryption.js';
import { sessionContext } from '../../storage/secrets/sealing.js';
import type { ProxyHealth } from '../proxy-health.js';
import type { SessionSaves } from '../session-saves.js';

/** The reader of one stream. */
export interface StreamHandlers {
  /** Aborting ends the stream. */
  signal: AbortSignal;
  /** A promise holds the stream up until it settles. */
  onFrame: (frame: StreamFrame) => Promise<void> | undefined;
  /** Called exactly once, last. */
  onEnd: (end: StreamEnd) => void;
}

/** The reader, and what it is told of the session. */
export interface SessionHandlers extends StreamHandlers {
  /** Called with the stored session that the stream is asked for with. */
  used(sealed: Buffer): void;
}

export interface StreamSourceOptions {
  db: Database;
  /** What the site renews of a session is stored, and read again once it is. */
  saves: Pick<SessionSaves, 'save' | 'settled' | 'use'>;
  proxies: Pick<ProxyHealth, 'saw'>;
  /** Decrypts sessions and the credentials of proxies. */
  ring: KeyRing;
  log: Logger;
}

/** Opens the streams of connections: each with the connection's session, through the connection's proxy. */
export class StreamSource {
  readonly #options: StreamSourceOptions;
  readonly #client: StreamClient;

  constructor(site: Site, options: StreamSourceOptions) {
    this.#options = options;
    this.#client = new StreamClient(site);
  }

  /** Opens the connection's stream. Never throws: every failure is an `onEnd`. */
  open(connection: ListenableConnection, { used, ...handlers }: SessionHandlers): void {
    const onAnswered = this.#options.saves.use(connection.id);
    const onEnd = (end: StreamEnd) => {
      onAnswered();
      handlers.onEnd(end);
    };
    void this.#access(connection, used).then(
      (access) => {
        if ('reason' in access) return onEnd(access);
        const { proxy, ...opened } = access;
        this.#client.open({ ...opened, ...this.#watched(proxy, { ...handlers, onEnd }), onAnswered });
      },
      (error) => {
        this.#options.log.error({ err: error, connection_id: connection.id }, 'listener: its stream cannot be opened');
        onEnd({ reason: 'connection_lost' });
      },
    );
  }

  /** Ends every stream. */
  close(): Promise<void> {
    return this.#client.close();
  }

  /** The handlers, and what the stream tells of its proxy. */
  #watched(proxy: ProxyRow, handlers: StreamHandlers) {
    const { proxies, ring } = this.#options;
    let reached = false;
    return {
      ...handlers,
      proxy: openProxy(ring, proxy),
      onFrame: (frame: StreamFrame) => {
        if (!reached) void proxies.saw(proxy, null);
        reached = true;
        return handlers.onFrame(frame);
      },
      onEnd: (end: StreamEnd) => {
        if (end.reason === 'proxy') void proxies.saw(proxy, 'unreachable');
        handlers.onEnd(end);
      },
    };
  }

  /** The decrypted session, as it is stored by now, and its proxy; or why there is no stream to ask for. */
  async #access({ id, state_revision, proxy_id }: ListenableConnection, used: (sealed: Buffer) => void) {
    const { db, ring, saves, log } = this.#options;
    await saves.settled(id);
    const [stored, proxy] = await Promise.all([listenableConnection(db, id), findProxy(db, proxy_id)]);
    if (stored?.state_revision !== state_revision) return MOVED_ON;
    if (!proxy?.active) return NO_PROXY;
    used(stored.session_sealed);
    const session = ring.open(stored.session_sealed, sessionContext(id)).toString('utf8');
    const onRenewed = (renewal: Renewal) => saves.save({ connectionId: id, stateRevision: state_revision, ...renewal });
    const onCookiesLeftOut = (cookies: string[]) => log.warn({ connection_id: id, cookies }, COOKIES_LEFT_OUT);
    return { session, proxy, onRenewed, onCookiesLeftOut };
  }
}

const COOKIES_LEFT_OUT = 'the stream set cookies that no browser takes: they were left out';

/** The listener is about to be closed. */
const MOVED_ON: StreamEnd = { reason: 'connection_lost' };
const NO_PROXY: StreamEnd = { reason: 'proxy' };
