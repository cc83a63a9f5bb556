import { Pool } from 'undici';
import { LIMITS } from './limits.js';

export interface Answer {
  /** 0: none came. */
  status: number;
  body: { id?: string; status?: string; error_code?: string | null };
}

/** The service's API to the clients of a soak: submissions and waits have HTTP connections of their own. */
export class SoakClient {
  readonly #headers: Record<string, string>;
  readonly #submitting: Pool;
  readonly #waiting: Pool;

  constructor({ url, key }: { url: string; key: string }) {
    this.#headers = { authorization: `Bearer ${key}` };
    const pool = () =>
      new Pool(url, {
        connections: LIMITS.client_connections,
        headersTimeout: LIMITS.request_ms,
        bodyTimeout: LIMITS.request_ms,
      });
    this.#submitting = pool();
    this.#waiting = pool();
  }

  submit(connectionId: string, work: object, idempotencyKey: string): Promise<Answer> {
    return answerOf(this.#submitting, {
      method: 'POST',
      path: `/v1/connections/${connectionId}/operations`,
      headers: { ...this.#headers, 'content-type': 'application/json', 'idempotency-key': idempotencyKey },
      body: JSON.stringify(work),
    });
  }

  /** The operation, at once or once it is terminal, at the latest after a while. */
  read(operationId: string, { waiting }: { waiting: boolean }): Promise<Answer> {
    return answerOf(waiting ? this.#waiting : this.#submitting, {
      method: 'GET',
      path: `/v1/operations/${operationId}`,
      headers: { ...this.#headers, ...(waiting && { prefer: `wait=${LIMITS.wait_s}` }) },
    });
  }

  async close(): Promise<void> {
    await Promise.all([this.#submitting.destroy(), this.#waiting.destroy()]);
  }
}

async function answerOf(pool: Pool, request: Parameters<Pool['request']>[0]): Promise<Answer> {
  try {
    const { statusCode, body } = await pool.request(request as Parameters<Pool['request']>[0] & { path: string });
    return { status: statusCode, body: (await body.json()) as Answer['body'] };
  } catch {
    return { status: 0, body: {} };
  }
}
