import { Pool } from 'undici';
import { LIMITS } from '../limits.js';

/** What a client was told; status 0: nothing, the connection was lost or the time ran out. */
export interface Told {
  status: number;
  body: Record<string, unknown>;
  headers: NodeJS.Dict<string | string[]>;
}

const NOTHING: Told = { status: 0, body: {}, headers: {} };

/** A client of all nodes, that takes no answer for an answer: whatever fails is status 0. */
export class NodesClient {
  readonly #pools: Pool[];
  readonly #key: string;

  constructor(nodes: readonly string[], key: string) {
    this.#key = key;
    this.#pools = nodes.map(
      (url) => new Pool(url, { connections: 256, pipelining: 1, bodyTimeout: 0, headersTimeout: 0 }),
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
    } catch {
      return NOTHING;
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#pools.map((pool) => pool.destroy()));
  }
}
