import { randomBytes } from 'node:crypto';
import type { Readable } from 'node:stream';
import fc from 'fast-check';
import { type Dispatcher, Pool } from 'undici';
import { LIMITS } from '../limits.js';
import { type Caller, type Crafted, crafted } from './inputs.js';
import type { Finding, FuzzOrder, FuzzResult, Ids, Resource } from './messages.js';
import { readTargets } from './targets.js';

const NOBODYS = '01900000-0000-7000-8000-000000000000';
const WRONG_KEY = `cs_${'A'.repeat(43)}`;

/** What is named by each parameter of a path. */
const RESOURCES: Record<string, Resource> = {
  connection_id: 'connection',
  account_id: 'connection',
  operation_id: 'operation',
  subscription_id: 'subscription',
  event_id: 'event',
  delivery_id: 'delivery',
};

/** Answers that go on until their client leaves. */
const ENDLESS = /x-ndjson|event-stream/;

/** What of an answer without end comes within a while; then it is left. */
async function beginningOf(body: Readable): Promise<string> {
  const pieces: Buffer[] = [];
  const leave = setTimeout(() => body.destroy(), LIMITS.stream_ms);
  try {
    for await (const piece of body) pieces.push(piece as Buffer);
  } catch (error) {
    if (!body.destroyed) throw error;
  } finally {
    clearTimeout(leave);
  }
  return Buffer.concat(pieces).toString();
}

/**
 * Sends crafted requests until its time is over, as a process of its own.
 *
 * I1  What is sent follows from the seed, but for the ids and the planted words, which are each run's own.
 */
class Fuzzer {
  readonly #order: FuzzOrder;
  readonly #pool: Pool;
  readonly #startedAt = performance.now();
  readonly #result: FuzzResult = {
    ...{ inputs: 0, seconds: 0, statuses: {}, findings: [] },
    health: { asked: 0, failed: 0, longest_ms: 0 },
  };

  constructor(order: FuzzOrder) {
    this.#order = order;
    const limits = { headersTimeout: LIMITS.answer_ms, bodyTimeout: LIMITS.answer_ms };
    this.#pool = new Pool(order.url, { connections: LIMITS.fuzz_clients + 1, ...limits });
  }

  async run(): Promise<FuzzResult> {
    const { seed, seconds, planted, url } = this.#order;
    const inputs = crafted(await readTargets(url), planted);
    for (let batch = 0; performance.now() - this.#startedAt < seconds * 1_000; batch++) {
      const numRuns = LIMITS.fuzz_batch_inputs;
      const left = fc.sample(inputs, { seed: seed + batch, numRuns }).entries(); // I1
      const client = async () => {
        for (const [place, input] of left) await this.#try(batch * numRuns + place, input);
      };
      await Promise.all(Array.from({ length: LIMITS.fuzz_clients }, client));
      await this.#askHealth();
    }
    await this.#pool.destroy();
    return { ...this.#result, seconds: (performance.now() - this.#startedAt) / 1_000 };
  }

  async #try(number: number, input: Crafted): Promise<void> {
    const path = this.#pathOf(input);
    const { method, caller, headers, body } = input;
    const shown = `${method} ${path} (key: ${caller}) ${JSON.stringify(headers)} ${body?.toString('latin1') ?? ''}`;
    const found = (what: string, answer: string) => this.#found({ number, what, request: shown, answer });
    this.#result.inputs++;
    try {
      const answer = await this.#pool.request({
        ...{ method: method as Dispatcher.HttpMethod, path },
        headers: {
          'content-type': 'application/json',
          'idempotency-key': `fuzz-${number}`,
          ...this.#keyOf(caller),
          ...headers,
        },
        ...(body && method !== 'GET' && method !== 'HEAD' && { body }),
      });
      const type = String(answer.headers['content-type']);
      const text = ENDLESS.test(type) ? await beginningOf(answer.body) : await answer.body.text();
      this.#judge(answer.statusCode, JSON.stringify(answer.headers) + text, found);
    } catch (error) {
      this.#count(0);
      // A body beyond every limit may be cut while it is sent (413), and a request that cannot be read ends its connection.
      const { code = '' } = error as { code?: string };
      if (/TIMEOUT/.test(code)) found('no answer in time', code);
    }
  }

  #judge(status: number, answer: string, found: (what: string, answer: string) => void): void {
    this.#count(status);
    const { marker, hidden } = this.#order.planted;
    if (status >= 500 && status !== 503) found(`status ${status}`, answer);
    if (answer.includes(marker)) found("the answer holds another tenant's marker", answer);
    if (answer.includes(hidden)) found('the answer holds a planted secret', answer);
  }

  #count(status: number): void {
    const { statuses } = this.#result;
    statuses[status] = (statuses[status] ?? 0) + 1;
  }

  #found(finding: Finding): void {
    const cut = (text: string) => text.slice(0, LIMITS.shown_characters);
    this.#result.findings.push({ ...finding, request: cut(finding.request), answer: cut(finding.answer) });
  }

  async #askHealth(): Promise<void> {
    const { health } = this.#result;
    const askedAt = performance.now();
    health.asked++;
    const status = await this.#pool.request({ method: 'GET', path: '/healthz' }).then(
      async (answer) => {
        await answer.body.dump();
        return answer.statusCode;
      },
      () => 0,
    );
    if (status !== 200) health.failed++;
    health.longest_ms = Math.max(health.longest_ms, performance.now() - askedAt);
  }

  #pathOf({ target, method, whose, pick, craftedId, query }: Crafted): string {
    // What is deleted or disconnected would be missed by what comes later: of the own connections, the last ones are for that.
    const ends = method === 'DELETE' || target.path.endsWith('/disconnect');
    const path = target.path.replace(/\{(\w+)\}/g, (_, name: string) => {
      if (whose === 'nobodys') return NOBODYS;
      if (whose === 'crafted') return encodeURIComponent(craftedId.toWellFormed()).slice(0, 2_000);
      const ids: Ids = whose === 'own' ? this.#order.own : this.#order.others;
      const all = ids[RESOURCES[name] ?? 'connection'];
      const half = Math.ceil(all.length / 2);
      const some = ends && all.length > 1 ? all.slice(half) : all.slice(0, half);
      return some[pick % Math.max(1, some.length)] ?? NOBODYS;
    });
    return query === '' ? path : `${path}?${query}`;
  }

  #keyOf(caller: Caller): Record<string, string> {
    const { full, narrow } = this.#order.keys;
    switch (caller) {
      case 'full':
        return { authorization: `Bearer ${full}` };
      case 'narrow':
        return { authorization: `Bearer ${narrow}` };
      case 'wrong':
        return { authorization: `Bearer ${WRONG_KEY}` };
      case 'garbled':
        return { authorization: `Basic ${full}, Bearer ${full.slice(0, -1)}${randomBytes(1).toString('hex')}` };
      case 'none':
        return {};
      default:
        return caller satisfies never;
    }
  }
}

process.once('message', (order: FuzzOrder) => {
  void new Fuzzer(order).run().then((result) => process.send?.(result, () => process.disconnect()));
});
