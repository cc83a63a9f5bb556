import { Client } from 'undici';
import { LIMITS } from './limits.js';

export interface Exchange {
  method: 'GET' | 'POST';
  path: string;
  headers: Record<string, string>;
  body?: string;
}

export interface Answer {
  /** 0: none came. */
  status: number;
  retry_after: boolean;
  /** Empty, unless it was asked for. */
  text: string;
}

type Answered = (answer: Answer) => void;

/** Sends requests with as little work as undici can do it with: a client each, through its handlers, without streams. */
export class LoadHttp {
  readonly #clients: Client[];
  readonly #free: Client[];
  /** Waits for a free client, the oldest first. */
  readonly #waiting: (() => void)[] = [];

  constructor(urls: string[], connections: number) {
    const options = { pipelining: 1, headersTimeout: LIMITS.answer_ms, bodyTimeout: LIMITS.answer_ms };
    this.#clients = Array.from(
      { length: connections },
      (_, place) => new Client(urls[place % urls.length] ?? '', options),
    );
    this.#free = [...this.#clients];
  }

  /** Never throws. `read`: whether the body is wanted. */
  send(exchange: Exchange, read: boolean, answered: Answered): void {
    const client = this.#free.pop();
    if (client) this.#dispatch(client, exchange, read, answered);
    else this.#waiting.push(() => this.send(exchange, read, answered));
  }

  async close(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.destroy()));
  }

  #dispatch(client: Client, exchange: Exchange, read: boolean, answered: Answered): void {
    const answer: Answer = { status: 0, retry_after: false, text: '' };
    const end = (ended: Answer) => {
      this.#free.push(client);
      this.#waiting.shift()?.();
      answered(ended);
    };
    client.dispatch(exchange, {
      onRequestStart() {},
      onResponseStart(_, status, headers) {
        answer.status = status;
        answer.retry_after = headers['retry-after'] !== undefined;
      },
      onResponseData(_, chunk) {
        if (read) answer.text += chunk.toString();
      },
      onResponseEnd: () => end(answer),
      onResponseError: () => end({ ...answer, status: 0 }),
    });
  }
}
