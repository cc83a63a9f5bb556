import type { Sql } from '../../../storage/postgres/database.js';
import { type Cost, costOf } from '../../kit/cost/cost.js';
import { Meter } from '../../kit/cost/meter.js';
import { withProgress } from '../../kit/progress.js';
import { number } from '../../kit/report.js';
import type { BenchService } from '../../kit/service.js';
import { WORK } from '../../kit/work.js';
import { drive } from '../../load/drive.js';
import type { Kind, LoadOrder } from '../../load/messages.js';
import { errorsOf, withClient } from '../../load/round.js';
import { runToEnd } from '../../load/run-to-end.js';
import { copiedIds, fillOperations } from './fill.js';

/** What is measured at each size. */
export const WORKS = ['submit', 'run', 'poll', 'list'] as const;
export type Work = (typeof WORKS)[number];

export interface Figure {
  per_second: number;
  p99_ms: number;
  /** Microseconds of processor time each. */
  service_us: number;
  postgres_us: number;
}

/** What was measured with so many operations stored. */
export interface Size {
  stored: number;
  figures: Record<Work, Figure>;
  /** What each took; submissions and runs are one load. With many cores at other work, this size cannot be held against others. */
  costs: Record<Exclude<Work, 'submit'>, Cost>;
  errors: string[];
}

type Say = (line: string) => void;

const medianOf = ({ service_us, postgres_us }: Cost) => ({
  service_us: service_us.median,
  postgres_us: postgres_us.median,
});

interface Read {
  figure: Figure;
  cost: Cost;
  errors: string[];
}

/** Lets the table of operations grow to each of these sizes in turn, and measures there. */
export class Growth {
  readonly #service: BenchService;
  readonly #db: Sql;
  readonly #meter: Meter;
  readonly #connectionIds: string[];
  readonly #say: Say;
  #copies = 0;

  private constructor(service: BenchService, db: Sql, meter: Meter, connectionIds: string[], say: Say) {
    this.#service = service;
    this.#db = db;
    this.#meter = meter;
    this.#connectionIds = connectionIds;
    this.#say = say;
  }

  /** Works for a while, so that there is an operation to copy and everything is warm. */
  static async begin(service: BenchService, db: Sql, connectionIds: string[], say: Say): Promise<Growth> {
    const growth = new Growth(service, db, await Meter.open([service.pid], db), connectionIds, say);
    await growth.#run('warmup', 3);
    return growth;
  }

  async measure(copies: number, seconds: number): Promise<Size> {
    let now = this.#copies;
    const filling = fillOperations(this.#db, now + 1, copies, (count) => {
      now = count;
    });
    await withProgress(this.#say, () => `storing: ${number(now)} of ${number(copies)}`, filling);
    this.#copies = copies;
    const stored = await this.#stored();
    const ran = await this.#run(`${copies} stored, run`, seconds);
    const polled = await this.#read('poll', copies, seconds);
    const listed = await this.#read('list', copies, seconds);
    const { accepted, operations } = ran;
    const cost = costOf([ran]);
    return {
      stored,
      figures: {
        submit: { per_second: accepted.per_second, p99_ms: accepted.p99_ms, ...medianOf(cost) },
        run: { per_second: operations / ran.seconds, p99_ms: ran.latency.p99_ms, ...medianOf(cost) },
        poll: polled.figure,
        list: listed.figure,
      },
      costs: { run: cost, poll: polled.cost, list: listed.cost },
      errors: [...ran.errors, ...polled.errors, ...listed.errors],
    };
  }

  #order(run: string, seconds: number, kind: Kind, operationIds: string[]): LoadOrder {
    const { addresses, key } = this.#service;
    return {
      ...{ urls: [addresses.url], key, run, seconds, kinds: [kind], operationIds, clients: 64 },
      ...{ connectionIds: this.#connectionIds, body: JSON.stringify(WORK.read) },
    };
  }

  #run(name: string, seconds: number) {
    const measured = { metricsUrls: [this.#service.addresses.metricsUrl], db: this.#db, meter: this.#meter };
    return runToEnd(name, measured, this.#order(name, seconds, 'submit', []), this.#say);
  }

  async #read(kind: 'poll' | 'list', copies: number, seconds: number): Promise<Read> {
    const ids = await copiedIds(this.#db, copies, Math.min(copies, 10_000));
    const order = this.#order(kind, seconds, kind, ids);
    const { value, usage } = await this.#meter.during(() => drive(`${copies} stored, ${kind}`, order, this.#say));
    const cost = costOf([{ operations: value.answered, usage: withClient(usage, value) }]);
    const figure: Figure = {
      per_second: value.answered / value.seconds,
      p99_ms: value.kinds[kind]?.p99_ms ?? 0,
      ...medianOf(cost),
    };
    return { figure, cost, errors: errorsOf(value) };
  }

  async #stored(): Promise<number> {
    const [row] = await this.#db.query<{ count: number }>(
      'growthStored',
      'select count(*)::int as count from operation',
    );
    return row?.count ?? 0;
  }
}
