import type { Exchange } from './http.js';
import { LIMITS } from './limits.js';
import type { Kind, LoadOrder } from './messages.js';

/** Makes the requests of an order, each kind in its turn. */
export class Requests {
  readonly #order: LoadOrder;
  readonly #reading: Record<string, string>;
  readonly #writing: Record<string, string>;
  readonly #known: string[];
  #submitted = 0;
  #polled = 0;

  constructor(order: LoadOrder) {
    this.#order = order;
    this.#reading = { authorization: `Bearer ${order.key}` };
    this.#writing = { ...this.#reading, 'content-type': 'application/json' };
    this.#known = [...order.operationIds];
  }

  /** The kind of the request with this number. */
  kindOf(number: number): Kind {
    return this.#order.kinds[number % this.#order.kinds.length] as Kind;
  }

  of(kind: Kind): Exchange {
    if (kind === 'poll') return this.#get(`/v1/operations/${this.#known[this.#polled++ % this.#known.length] ?? ''}`);
    if (kind === 'list') return this.#get(`/v1/operations?limit=${LIMITS.page_operations}`);
    const { connectionIds, run, body } = this.#order;
    const number = this.#submitted++;
    return {
      method: 'POST',
      path: `/v1/connections/${connectionIds[number % connectionIds.length]}/operations`,
      headers: { ...this.#writing, 'idempotency-key': `${run}-${number}` },
      body,
    };
  }

  waitFor(id: string): Exchange {
    return this.#get(`/v1/operations/${id}`, { ...this.#reading, prefer: `wait=${LIMITS.wait_s}` });
  }

  /** Later polls read it. */
  remember(id: string): void {
    if (this.#known.length >= LIMITS.remembered_operations)
      this.#known[this.#submitted % LIMITS.remembered_operations] = id;
    else this.#known.push(id);
  }

  #get(path: string, headers = this.#reading): Exchange {
    return { method: 'GET', path, headers };
  }
}
