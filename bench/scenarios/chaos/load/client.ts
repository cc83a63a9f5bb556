import { Pool } from 'undici';
import type { LostAnswer } from '../evidence.js';
import { LIMITS } from '../limits.js';

/** What a client was told; status 0: nothing, for the reason in `lost`. */
export interface Told {
  status: number;
  body: Record<string, unknown>;
  headers: NodeJS.Dict<string | string[]>;
  lost?: LostAnswer['how'];
}

/** A client of all nodes, that takes no answer for an answer: whatever fails is status 0. */
export class NodesClient {
  readonly #pools: Pool[];
  readonly #key: string;

  constructor(nodes: readonly string[], key: string) {
    this.#key = key;
    this.#pools = nodes.map(
      (url) =>
        new Pool(url, {
          connections: 256,
          pipelining: 1,
          bodyTimeout: 0,
          headersTimeout: 0,
          keepAliveTimeout: LIMITS.idle_connection_ms,
        }),
    );
  }

  get nodes(): number {
    return this.#pools.length;
  }

  async send(
    node: number,
    method: 'GET' | 'POST',
    path: string,
    options: { body?: object; headers?: Record<string, string>; within_ms?: number } = {},
  ): Promise<Told> {
    const { body, headers, within_ms = LIMITS.request_ms } = options;
    const pool = this.#pools[node % this.#pools.length] as Pool;
    try {
      const answer = await pool.request({
        method,
        path,
        signal: AbortSignal.timeout(within_ms),
        headers: {
          authorization: `Bearer ${this.#key}`,
          ...(body && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body && { body: JSON.stringify(body) }),
      });
      const text = await answer.body.text();
      return { status: answer.statusCode, body: JSON.parse(text || '{}'), headers: answer.headers };
    } catch (error) {
      return { status: 0, body: {}, headers: {}, lost: reasonOf(error as NodeJS.ErrnoException) };
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#pools.map((pool) => pool.destroy()));
  }
}

const LATE = new Set<unknown>(['TimeoutError', 'ConnectTimeoutError']);

/** A connection that was not to be had is told from one that was lost: on that the node may have had the request. */
function reasonOf({ name, code }: NodeJS.ErrnoException): LostAnswer['how'] {
  if (code === 'ECONNREFUSED') return 'refused';
  return LATE.has(name) ? 'late' : 'reset';
}
