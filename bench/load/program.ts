import { setTimeout as delay } from 'node:timers/promises';
import { Counts } from './counts.js';
import { type Answer, LoadHttp } from './http.js';
import { LIMITS } from './limits.js';
import type { FromLoad, Kind, LoadOrder, LoadResult } from './messages.js';
import { Requests } from './requests.js';

interface Read {
  id: string;
  status: string;
  updated_at: string;
}

const OPEN = new Set(['queued', 'running', 'waiting_user']);
const wallClock = () => performance.timeOrigin + performance.now();

/**
 * The clients of the scenarios that measure a rate, as a process of their own. In a closed loop each HTTP connection sends when it was
 * answered; in an open one a request is sent when it is due, and timed from then, so that a service that stalls is told of every request
 * that came meanwhile (no coordinated omission).
 *
 * I1  Nothing is kept of a request once it has its answer.
 */
class Load {
  readonly counts = new Counts();
  readonly #order: LoadOrder;
  readonly #requests: Requests;
  readonly #http: LoadHttp;
  #sent = 0;
  #underWay = 0;

  constructor(order: LoadOrder) {
    this.#order = order;
    this.#requests = new Requests(order);
    this.#http = new LoadHttp(order.urls, order.clients);
  }

  async run(): Promise<LoadResult> {
    const { rate, clients } = this.#order;
    if (rate !== undefined) await this.#keepRate(rate);
    else await Promise.all(Array.from({ length: clients }, () => this.#client()));
    while (this.#underWay > 0) await delay(1);
    const { result } = this.counts;
    await this.#http.close();
    return result;
  }

  get #isOver(): boolean {
    return this.counts.elapsed_ms >= this.#order.seconds * 1_000;
  }

  async #keepRate(rate: number): Promise<void> {
    const { under_way } = this.#order;
    const startedAt = performance.now();
    for (let due = 0; !this.#isOver; await delay(1)) {
      for (; startedAt + (due / rate) * 1_000 <= performance.now(); due++) {
        const dueAt = startedAt + (due / rate) * 1_000;
        if (this.#underWay >= (under_way ?? LIMITS.under_way_requests)) this.counts.left_out++;
        else void this.#request(this.#requests.kindOf(due), under_way === undefined ? dueAt : performance.now());
      }
    }
  }

  async #client(): Promise<void> {
    while (!this.#isOver) {
      const status = await this.#request(this.#requests.kindOf(this.#sent++), performance.now());
      if (status === 503) await delay(LIMITS.refused_ms);
    }
  }

  async #request(kind: Kind, since: number): Promise<number> {
    this.#underWay++;
    const wantsBody = kind === 'follow' || (kind === 'submit' && this.#order.kinds.includes('poll'));
    const answer = await this.#send(this.#requests.of(kind), wantsBody);
    const isSubmission = kind === 'submit' || kind === 'follow';
    if (answer.status !== (isSubmission ? 202 : 200)) this.counts.bad(answer, since);
    else {
      if (kind === 'follow') await this.#follow(answer, since);
      else this.counts.good(kind, since);
      if (kind === 'submit' && wantsBody) this.#requests.remember((JSON.parse(answer.text) as Read).id);
    }
    this.#underWay--;
    return answer.status;
  }

  /** `since`: of the submission. */
  async #follow({ text }: Answer, since: number): Promise<void> {
    const waitsFrom = wallClock();
    const answer = await this.#send(this.#requests.waitFor((JSON.parse(text) as Read).id), true);
    const answeredAt = wallClock();
    if (answer.status !== 200) return this.counts.bad(answer, since);
    const { status, updated_at } = JSON.parse(answer.text) as Read;
    if (OPEN.has(status)) return this.counts.failed(`still ${status} after its wait`);
    this.counts.good('follow', since);
    const endedAt = Date.parse(updated_at);
    if (endedAt < waitsFrom) this.counts.ended_before++;
    else this.counts.woken.record(Math.max(0, answeredAt - endedAt));
  }

  #send(exchange: Parameters<LoadHttp['send']>[0], read: boolean): Promise<Answer> {
    return new Promise((resolve) => this.#http.send(exchange, read, resolve));
  }
}

const tell = (message: FromLoad, sent = () => {}) => process.send?.(message, sent);

process.once('message', (order: LoadOrder) => {
  const load = new Load(order);
  const progress = setInterval(() => tell({ type: 'progress', answered: load.counts.answered }), LIMITS.progress_ms);
  void load.run().then((result) => {
    clearInterval(progress);
    tell({ type: 'done', result }, () => process.disconnect());
  });
});
process.once('disconnect', () => process.exit());
