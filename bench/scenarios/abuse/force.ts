import { randomUUID } from 'node:crypto';
import { once, setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { type Dispatcher, Pool } from 'undici';
import { ServiceApi } from '../../kit/api.js';
import { classOf, classOfError, count } from './answers.js';
import { LIMITS } from './limits.js';
import { type Answers, type Attacked, CLASSES, type Tenant } from './messages.js';

export interface Shot {
  method?: string;
  path: string;
  headers?: Record<string, string>;
  /** An object is sent as JSON. */
  body?: object | Buffer | string;
}

/**
 * What an attack does its work with, in the attacker's process.
 *
 * I1  Whatever comes back is counted once, and its bytes are dropped as they come, but where the attack reads them.
 * I2  When its time is over nothing more is begun, what is under way is given up and counted as waiting, and every socket is closed.
 */
export class Force {
  readonly tenant: Tenant;
  /** Of the greedy workspace; throws on what is no success. For setting up and clearing away. */
  readonly api: ServiceApi;
  readonly #pools = new Set<Pool>();
  readonly #over = new AbortController();
  readonly answers: Answers = {};
  received_bytes = 0;
  callbacks = 0;
  #waiting = 0;
  #seconds = 0;

  constructor(tenant: Tenant) {
    this.tenant = tenant;
    this.api = new ServiceApi(tenant);
    setMaxListeners(0, this.over);
  }

  get isOver(): boolean {
    return this.#over.signal.aborted;
  }

  /** Aborts when the attack's time is over. */
  get over(): AbortSignal {
    return this.#over.signal;
  }

  /** Lets `attack` work for so long. */
  async during(seconds: number, attack: () => Promise<void>): Promise<Omit<Attacked, 'note'>> {
    const startedAt = performance.now();
    this.#seconds = seconds;
    this.received_bytes = 0;
    this.#waiting = 0;
    for (const outcome of CLASSES) delete this.answers[outcome];
    const timer = setTimeout(() => this.#end(), seconds * 1_000);
    await attack();
    clearTimeout(timer);
    this.#end();
    const took = (performance.now() - startedAt) / 1_000;
    const { answers, received_bytes, callbacks } = this;
    return { answers: { ...answers }, waiting: this.#waiting, seconds: took, received_bytes, callbacks };
  }

  #end(): void {
    this.#over.abort();
    for (const pool of this.#pools) void pool.destroy().catch(() => {}); // I2
    this.#pools.clear();
  }

  /** HTTP connections, at most so many. */
  pool(connections: number): Pool {
    const answer_ms = LIMITS.attacker_answer_ms;
    const limits = { headersTimeout: answer_ms, bodyTimeout: answer_ms };
    const pool = new Pool(this.tenant.url, { connections, ...limits, connect: { timeout: answer_ms } });
    this.#pools.add(pool);
    return pool;
  }

  /** The greedy workspace's own key; an attack by strangers leaves it out. */
  get key(): Record<string, string> {
    return { authorization: `Bearer ${this.tenant.key}` };
  }

  /** Sends one request and counts what comes back. Gives the status; 0: no answer. After a lost connection it pauses. */
  async fire(pool: Pool, shot: Shot): Promise<number> {
    return (
      (
        await this.#exchange(pool, shot, async (body) => {
          for await (const chunk of body as AsyncIterable<Buffer>) this.received_bytes += chunk.length; // I1
        })
      )?.status ?? 0
    );
  }

  /** The same, and gives the answer's text. */
  async ask(pool: Pool, shot: Shot): Promise<{ status: number; text: string } | undefined> {
    return this.#exchange(pool, shot, (body) => body.text());
  }

  async #exchange<T>(
    pool: Pool,
    { method = 'GET', path, headers = {}, body }: Shot,
    read: (body: Dispatcher.ResponseData['body']) => Promise<T>,
  ): Promise<{ status: number; text: T } | undefined> {
    const sent = body === undefined || typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
    const type = sent === undefined ? {} : { 'content-type': 'application/json' };
    try {
      const answer = await pool.request({
        ...{ path, method: method as Dispatcher.HttpMethod, headers: { ...type, ...headers } },
        ...(sent !== undefined && { body: sent }),
      });
      const text = await read(answer.body);
      count(this.answers, classOf(answer.statusCode));
      return { status: answer.statusCode, text };
    } catch (error) {
      // Closed by ourselves: the time is over (I2), or the attack hung up.
      if (this.isOver) this.#waiting++;
      if (this.isOver || (error as { code?: string }).code === 'UND_ERR_DESTROYED') return undefined;
      const outcome = classOfError(error);
      count(this.answers, outcome);
      if (outcome === 'reset') await this.pause(LIMITS.reset_pause_ms);
      return undefined;
    }
  }

  /** So many clients at once, each of which does its work again and again until the time is over. */
  async clients(many: number, work: (client: number, turn: number) => Promise<unknown>): Promise<void> {
    const client = async (number: number) => {
      for (let turn = 0; !this.isOver; turn++) await work(number, turn);
    };
    await Promise.all(Array.from({ length: many }, (_, number) => client(number)));
  }

  /** For work of a steady pace: it gets the length of the attack, and is left alone when it goes on for longer. */
  async whileItLasts(work: (seconds: number) => Promise<void>): Promise<void> {
    await Promise.race([work(this.#seconds), once(this.over, 'abort')]);
  }

  /** Closes these connections with what is under way on them. */
  hangUp(pool: Pool): void {
    this.#pools.delete(pool);
    void pool.destroy().catch(() => {});
  }

  /** Waits, or less long when the time is over. */
  async pause(wait_ms: number): Promise<void> {
    await delay(wait_ms, undefined, { signal: this.over }).catch(() => {});
  }

  submission(connectionId: string, capability: string, input: object | Buffer): Shot {
    const body = Buffer.isBuffer(input) ? input : { capability, input };
    const headers = { ...this.key, 'idempotency-key': randomUUID() };
    return { method: 'POST', path: `/v1/connections/${connectionId}/operations`, headers, body };
  }
}
