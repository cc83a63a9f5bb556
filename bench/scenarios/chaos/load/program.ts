import { createWriteStream, type WriteStream } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { Backoff } from '../../../../storage/process/backoff.js';
import { SeededRandom } from '../../../sandbox/data/seeded-random.js';
import { LIMITS } from '../limits.js';
import { NodesClient, type Told } from './client.js';
import type { FromLoad, LoadLine, LoadOrder, LoadProgress, ToLoad } from './messages.js';
import { GappedWork, simulatedWork, socialWork, type Work } from './work.js';

/**
 * The clients of a chaos run, as a process of their own. Each submission is sent to any node, and what was not answered is sent
 * again with the same key, to another one, until it is answered. All that is said is a line of the log.
 */
class Load {
  readonly #order: LoadOrder;
  readonly #client: NodesClient;
  readonly #log: WriteStream;
  readonly #random: SeededRandom;
  /** Aside, so that what a client meets changes nothing of what is submitted. */
  readonly #turns: SeededRandom;
  readonly #progress: LoadProgress = { sent: 0, accepted: 0, under_way: 0, left_out: 0 };
  readonly #aside = new Set<Promise<void>>();
  readonly #keyPrefix: string;
  #number = 0;
  #full = false;
  #lastTry_at = Number.POSITIVE_INFINITY;

  constructor(order: LoadOrder) {
    this.#order = order;
    this.#client = new NodesClient(order.nodes, order.key);
    this.#log = createWriteStream(order.logFile, { flags: 'a' });
    this.#random = new SeededRandom('load', order.seed);
    this.#turns = new SeededRandom('turns', order.seed);
    this.#keyPrefix = `chaos-${order.seed}-${Date.now()}`;
  }

  /** Submits at the rates, until `submitNothingNew`. */
  start(): void {
    const { rate, social_rate, simulated, social, person, gaps } = this.#order;
    const work = gaps ? new GappedWork(this.#random, simulated, rate) : undefined;
    void this.#keepRate(rate, () => work?.next(this.#number) ?? simulatedWork(this.#random, simulated, this.#number));
    if (social.length > 0) {
      void this.#keepRate(social_rate, () => socialWork(this.#random, social, this.#number, person));
    }
    for (const { connection_id } of social) this.#aside.add(this.#keepSession(connection_id));
    setInterval(() => report({ type: 'progress', progress: this.#progress }), 1_000).unref();
  }

  submitNothingNew(): void {
    this.#full = true;
  }

  /** Resolves when everything is answered, or was asked for long enough. */
  async stop(): Promise<void> {
    this.submitNothingNew();
    this.#lastTry_at = performance.now() + LIMITS.last_answers_ms;
    while (this.#progress.under_way > 0) await delay(20);
    await Promise.all(this.#aside);
    report({ type: 'progress', progress: this.#progress });
    await this.#client.close();
    await new Promise<void>((resolve) => this.#log.end(resolve));
  }

  get #stopping(): boolean {
    return this.#lastTry_at !== Number.POSITIVE_INFINITY;
  }

  /** An open loop: what is due is sent, however the service fares. */
  async #keepRate(rate: number, work: () => Work): Promise<void> {
    const startedAt = performance.now();
    for (let due = 0; !this.#full; ) {
      const now_due = ((performance.now() - startedAt) / 1_000) * rate;
      for (; due < now_due; due++) {
        this.#number++;
        const next = work();
        if (this.#progress.under_way >= LIMITS.submissions_under_way) this.#progress.left_out++;
        else void this.#submit(next);
      }
      await delay(Math.min(1_000 / rate, 250));
    }
  }

  /** Until it is accepted or refused; gives the operation's id. */
  async #submit(work: Work): Promise<string | undefined> {
    const key = `${this.#keyPrefix}-${++this.#progress.sent}`;
    const { connection_id, capability, input, marker, expected } = work;
    this.#write({
      line: 'sent',
      key,
      connection_id,
      capability,
      marker,
      ...(expected && { expected }),
      at: Date.now(),
    });
    this.#progress.under_way++;
    const waits = new Backoff({ first_ms: LIMITS.retry_ms, cap_ms: LIMITS.retry_cap_ms });
    try {
      for (let node = this.#anyNode(); ; node++) {
        const { status, body, headers } = await this.#send(
          node,
          'POST',
          `/v1/connections/${connection_id}/operations`,
          {
            body: { capability, input },
            headers: { 'idempotency-key': key },
          },
        );
        const accepted = status === 200 || status === 202;
        const operation_id = accepted ? String(body.id) : null;
        const replayed = headers['idempotency-replayed'] === 'true';
        const at = Date.now();
        this.#write({ line: 'answer', key, node: node % this.#client.nodes, at, status, operation_id, replayed });
        if (operation_id !== null) {
          this.#progress.accepted++;
          this.#follow(operation_id);
          return operation_id;
        }
        if (isFinal(status) || performance.now() > this.#lastTry_at) return undefined;
        await delay(waits.next_ms());
      }
    } finally {
      this.#progress.under_way--;
    }
  }

  /** Some are waited for, some are canceled. */
  #follow(operationId: string): void {
    const dice = this.#turns.next();
    if (this.#stopping || dice >= 0.07) return;
    const followed = dice < 0.02 ? this.#cancel(operationId) : this.#see(operationId).then(() => {});
    this.#aside.add(followed);
    void followed.finally(() => this.#aside.delete(followed));
  }

  async #cancel(operation_id: string): Promise<void> {
    const { status } = await this.#send(this.#anyNode(), 'POST', `/v1/operations/${operation_id}/cancel`);
    this.#write({ line: 'cancel', operation_id, at: Date.now(), status });
  }

  /** Waits for the operation; gives its status, if any. */
  async #see(operation_id: string): Promise<string | undefined> {
    const told = await this.#send(this.#anyNode(), 'GET', `/v1/operations/${operation_id}`, {
      headers: { prefer: 'wait=10' },
      within_ms: LIMITS.wait_ms,
    });
    if (told.status !== 200) return undefined;
    const status = String(told.body.status);
    this.#write({ line: 'seen', operation_id, at: Date.now(), status });
    return status;
  }

  /** Signs the connection in again whenever its session has ended. */
  async #keepSession(connection_id: string): Promise<void> {
    while (!this.#stopping) {
      await delay(LIMITS.session_poll_ms);
      const { status, body } = await this.#send(this.#anyNode(), 'GET', `/v1/connections/${connection_id}`);
      if (status !== 200 || body.health === 'ready' || this.#stopping) continue;
      const login = { connection_id, capability: 'social.login', input: {}, marker: null };
      const operationId = await this.#submit(login);
      if (operationId === undefined) continue;
      for (let seen: string | undefined = 'queued'; isOpen(seen) && !this.#stopping; )
        seen = await this.#see(operationId);
    }
  }

  /** Sends a request; one that gets no answer is a line of the log. */
  async #send(...[node, method, path, options]: Parameters<NodesClient['send']>): Promise<Told> {
    const told = await this.#client.send(node, method, path, options);
    if (told.lost) {
      const request = `${method} ${path}`;
      this.#write({ line: 'lost', node: node % this.#client.nodes, at: Date.now(), request, how: told.lost });
    }
    return told;
  }

  #anyNode(): number {
    return this.#turns.between(0, this.#client.nodes - 1);
  }

  #write(line: LoadLine): void {
    this.#log.write(`${JSON.stringify(line)}\n`);
  }
}

const isOpen = (status: string | undefined) => status === undefined || status === 'queued' || status === 'running';

/** An answer that would be the same the next time. */
const isFinal = (status: number) => status >= 400 && status < 500 && status !== 429;

function report(message: FromLoad): void {
  process.send?.(message);
}

let load: Load | undefined;
process.on('message', (message: ToLoad) => {
  switch (message.type) {
    case 'start':
      load = new Load(message.order);
      load.start();
      return;
    case 'submit_nothing_new':
      load?.submitNothingNew();
      return;
    case 'stop':
      void load?.stop().then(() => {
        report({ type: 'done' });
        process.disconnect();
      });
      return;
    default:
      message satisfies never;
  }
});
process.once('disconnect', () => process.exit());
