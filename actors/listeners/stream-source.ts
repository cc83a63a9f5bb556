import type { StreamFrame } from '../../browser-pool/social/access/frames.js';
import { StreamClient, type StreamEnd } from '../../browser-pool/social/access/stream.js';
import type { Site } from '../../browser-pool/social/site/site.js';
import type { ListenableConnection } from '../../storage/connections/listeners.js';
import { findProxy, type OpenProxy, openProxy } from '../../storage/connections/proxies.js';
import type { Logger } from '../../storage/log.js';
import type { Database } from '../../storage/postgres/database.js';
import type { KeyRing } from '../../storage/secrets/encryption.js';
import { sessionContext } from '../../storage/secrets/sealing.js';

/** The reader of one stream. */
export interface StreamHandlers {
  /** Aborting ends the stream. */
  signal: AbortSignal;
  /** A promise holds the stream up until it settles. */
  onFrame: (frame: StreamFrame) => Promise<void> | undefined;
  /** Called exactly once, last. */
  onEnd: (end: StreamEnd) => void;
}

export interface StreamSourceOptions {
  db: Database;
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
  open(connection: ListenableConnection, handlers: StreamHandlers): void {
    void this.#access(connection).then(
      (access) => {
        if (access) this.#client.open({ ...access, ...handlers });
        else handlers.onEnd({ reason: 'proxy' });
      },
      (error) => {
        this.#options.log.error({ err: error, connection_id: connection.id }, 'stream cannot be opened');
        handlers.onEnd({ reason: 'connection_lost' });
      },
    );
  }

  /** Ends every stream. */
  close(): Promise<void> {
    return this.#client.close();
  }

  /** The decrypted session and its proxy; undefined while the proxy is switched off. */
  async #access(connection: ListenableConnection): Promise<{ session: string; proxy: OpenProxy } | undefined> {
    const { db, ring } = this.#options;
    const proxy = await findProxy(db, connection.proxy_id);
    if (!proxy?.active) return undefined;
    const session = ring.open(connection.session_sealed, sessionContext(connection.id)).toString('utf8');
    return { session, proxy: openProxy(ring, proxy) };
  }
}
