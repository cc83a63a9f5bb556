import { setTimeout as delay } from 'node:timers/promises';
import { Latencies } from '../../kit/latencies.js';
import { SeededRandom } from '../../sandbox/data/seeded-random.js';
import { SoakClient } from './client.js';
import { LIMITS } from './limits.js';
import type { FromLoad, LoadCounts, LoadOrder, LoadResult, QuarterLatencies, ToLoad, Worked } from './messages.js';
import { simulatedWork, socialWork, type Work } from './work.js';

const QUARTERS = 4;

/** Of the submissions of one quarter of the time. */
type Quarter = Record<keyof QuarterLatencies, Latencies>;

const emptyQuarter = (): Quarter => ({
  accepted: new Latencies(),
  ended: new Latencies(),
  socialEnded: new Latencies(),
});

/**
 * The clients of a soak, as a process of their own.
 *
 * I1  Nothing is kept of a submission once it has its answers, so that millions cost no memory.
 */
class Load {
  readonly #order: LoadOrder;
  readonly #client: SoakClient;
  readonly #random: SeededRandom;
  readonly #startedAt = performance.now();
  readonly #quarters = Array.from({ length: QUARTERS }, emptyQuarter);
  readonly counts: LoadCounts = { sent: 0, accepted: 0, underWay: 0, leftOut: 0, refused: 0, errors: {} };
  #numbers = 0;

  constructor(order: LoadOrder) {
    this.#order = order;
    this.#client = new SoakClient(order);
    this.#random = new SeededRandom('soak', order.run);
  }

  /** Works for the time of the order; resolves when everything has its answer. */
  async run(): Promise<LoadResult> {
    const { rate, socialRate, simulated, social } = this.#order;
    const loops =
      rate === undefined
        ? Array.from({ length: LIMITS.clients }, (_, number) => this.#bursts(number))
        : [this.#keepRate(rate, () => this.#simulated(this.#random.pick(simulated), this.#numbers))];
    if (social.length > 0) loops.push(this.#keepRate(socialRate, () => this.#social(this.#random.pick(social))));
    await Promise.all(loops);
    while (this.counts.underWay > 0) await delay(LIMITS.tick_ms);
    const seconds = this.#elapsed_ms / 1_000;
    await this.#client.close();
    const quarters = this.#quarters.map(({ accepted, ended, socialEnded }) => ({
      accepted: accepted.summary,
      ended: ended.summary,
      socialEnded: socialEnded.summary,
    }));
    return { ...this.counts, seconds, quarters };
  }

  /** Idempotency key and text of a submission, unlike those of any other of this service. */
  #mark(): string {
    return `${this.#order.run}-${this.#numbers++}`;
  }

  get #elapsed_ms(): number {
    return performance.now() - this.#startedAt;
  }

  get #isOver(): boolean {
    return this.#elapsed_ms >= this.#order.seconds * 1_000;
  }

  get #quarter(): Quarter {
    const place = Math.floor((this.#elapsed_ms / 1_000 / this.#order.seconds) * QUARTERS);
    return this.#quarters[Math.min(QUARTERS - 1, place)] as Quarter;
  }

  /** An open loop: what is due is sent, however the service fares. */
  async #keepRate(rate: number, submission: () => Promise<void>): Promise<void> {
    const from = this.#elapsed_ms;
    for (let due = 0; !this.#isOver; ) {
      const dueNow = ((this.#elapsed_ms - from) / 1_000) * rate;
      for (; due < dueNow; due++) {
        if (this.counts.underWay >= LIMITS.submissions_under_way) this.counts.leftOut++;
        else void submission();
      }
      await delay(Math.min(1_000 / rate, LIMITS.tick_ms));
    }
  }

  /**
   * A closed loop: operations of a connection end in their order, so that when the last of a burst has ended, all have. Each client
   * has connections of its own, which it takes in turn.
   */
  async #bursts(client: number): Promise<void> {
    const own = this.#order.simulated.filter((_, place) => place % LIMITS.clients === client);
    for (let turn = 0; own.length > 0 && !this.#isOver; turn++) {
      const one = own[turn % own.length] as Worked;
      for (let i = 0; i < LIMITS.followed_operations; i++) await this.#simulated(one, i + 1);
    }
  }

  /** Each so many turns an operation is waited for to its end, and another is read once. */
  async #simulated(self: Worked, turn: number): Promise<void> {
    const mark = this.#mark();
    const work = simulatedWork(this.#random, self, this.#order.simulated, mark);
    const place = turn % LIMITS.followed_operations;
    await this.#underWay(async () => {
      const startedAt = performance.now();
      const id = await this.#submit(self.connectionId, work, mark);
      if (id === undefined) return;
      if (place === 0) await this.#follow(id, startedAt, 'ended');
      else if (place === 1) {
        const { status } = await this.#client.read(id, { waiting: false });
        if (status !== 200) this.#failed(`read: status ${status}`);
      }
    });
  }

  async #social({ connectionId }: Worked): Promise<void> {
    const mark = this.#mark();
    await this.#underWay(async () => {
      const startedAt = performance.now();
      const id = await this.#submit(connectionId, socialWork(this.#random, this.#order.person, mark), mark);
      if (id !== undefined) await this.#follow(id, startedAt, 'socialEnded');
    });
  }

  async #underWay(submission: () => Promise<void>): Promise<void> {
    this.counts.sent++;
    this.counts.underWay++;
    await submission().finally(() => this.counts.underWay--);
  }

  /** The id of the accepted operation. */
  async #submit(connectionId: string, work: Work, mark: string): Promise<string | undefined> {
    const sentAt = performance.now();
    const quarter = this.#quarter;
    const { status, body } = await this.#client.submit(connectionId, work, mark);
    if (status === 202) {
      quarter.accepted.record(performance.now() - sentAt);
      this.counts.accepted++;
      return body.id;
    }
    if (status === 503) this.counts.refused++;
    else this.#failed(`submission: status ${status}`);
    return undefined;
  }

  async #follow(id: string, startedAt: number, kind: 'ended' | 'socialEnded'): Promise<void> {
    const quarter = this.#quarter;
    const { status, body } = await this.#client.read(id, { waiting: true });
    if (status !== 200) this.#failed(`wait: status ${status}`);
    else if (body.status !== 'succeeded') this.#failed(`${body.status} ${body.error_code ?? ''}`.trim());
    else quarter[kind].record(performance.now() - startedAt);
  }

  #failed(what: string): void {
    this.counts.errors[what] = (this.counts.errors[what] ?? 0) + 1;
  }
}

const report = (message: FromLoad, sent = () => {}) => process.send?.(message, sent);

process.once('message', ({ order }: ToLoad) => {
  const load = new Load(order);
  const told = setInterval(() => report({ type: 'progress', counts: load.counts }), LIMITS.sample_ms);
  void load.run().then((result) => {
    clearInterval(told);
    report({ type: 'done', result }, () => process.disconnect());
  });
});
process.once('disconnect', () => process.exit());
