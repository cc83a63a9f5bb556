import tls from 'node:tls';
import type { Pool } from 'undici';
import { LIMITS } from '../limits.js';
import type { CallbackTarget } from './callback-guard.js';
import type { Address } from './host-resolver.js';

/**
 * Connections to receivers that are kept alive, one pool for each origin. Invariants:
 * I1 a connection leads to an address of the last checked answer for its host: when the answer changes, so does the pool,
 *    and the old one closes once its requests are over;
 * I2 a request never waits for another one: pools are unbounded, the dispatcher bounds what is in flight;
 * I3 at most `pooled_origins` pools are kept, the least recently used one closes first.
 */
export class OriginPools {
  readonly #Pool: typeof Pool;
  readonly #pools = new Map<string, { pool: Pool; addresses: string }>();
  readonly #secureContext: tls.SecureContext;
  readonly #connect_ms: number;

  /**
   * `ca`: PEM certificates trusted besides the machine's own. `connect_ms` bounds connecting. The HTTP client is loaded by whoever sends
   * first: it takes a tenth of a second, which a start does not wait for.
   */
  static async open(ca: string | undefined, connect_ms: number): Promise<OriginPools> {
    return new OriginPools((await import('undici')).default.Pool, ca, connect_ms);
  }

  private constructor(pool: typeof Pool, ca: string | undefined, connect_ms: number) {
    this.#Pool = pool;
    this.#connect_ms = connect_ms;
    // Made once: with a `ca` option every connection would parse all the certificates again.
    this.#secureContext = tls.createSecureContext(ca ? { ca: [...tls.getCACertificates('default'), ca] } : {});
  }

  /** Returns the pool for this target. Use it at once: the next call may close it for new requests. */
  for({ url, addresses }: CallbackTarget): Pool {
    const signature = addresses
      .map(({ address }) => address)
      .sort()
      .join();
    const kept = this.#pools.get(url.origin);
    this.#pools.delete(url.origin);
    if (kept && kept.addresses !== signature) void kept.pool.close(); // I1
    const pool = kept?.addresses === signature ? kept.pool : this.#open(url.origin, addresses);
    this.#pools.set(url.origin, { pool, addresses: signature });
    if (this.#pools.size > LIMITS.pooled_origins) {
      // I3: a Map keeps its entries in the order in which they were set
      const [[oldest, { pool: unused }]] = this.#pools as unknown as [[string, { pool: Pool }]];
      this.#pools.delete(oldest);
      void unused.close();
    }
    return pool;
  }

  /** Closes every connection, at once. */
  async destroy(): Promise<void> {
    const pools = [...this.#pools.values()];
    this.#pools.clear();
    await Promise.all(pools.map(({ pool }) => pool.destroy()));
  }

  #open(origin: string, addresses: Address[]): Pool {
    return new this.#Pool(origin, {
      // HTTP/2 would put the requests of many deliveries on one connection, and one bad answer would fail them all. And undici
      // sends a refused stream (REFUSED_STREAM) a second time by itself, seen on the wire with 8.12: the attempt log
      // would show one request where two were made. Over HTTP/1.1 what was written once is not written again.
      allowH2: false,
      pipelining: 1, // I2
      keepAliveTimeout: LIMITS.keep_alive_ms,
      keepAliveMaxTimeout: LIMITS.keep_alive_ms,
      maxHeaderSize: LIMITS.answer_header_bytes,
      connect: {
        secureContext: this.#secureContext,
        timeout: this.#connect_ms,
        autoSelectFamily: true,
        // I1: the name is not resolved again between the check and the connection.
        lookup: (_host, options, give) => {
          const [first] = addresses as [Address];
          if (options.all) give(null, addresses);
          else give(null, first.address, first.family);
        },
      },
    });
  }
}
