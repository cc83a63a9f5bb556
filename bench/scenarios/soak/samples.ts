import type { Database } from '../../../storage/postgres/database.js';
import { readMetrics } from '../../kit/metrics.js';
import { acceptedAt, useOf } from '../../kit/process-use.js';
import type { BenchService } from '../../kit/service.js';
import { LIMITS } from './limits.js';
import { sampleConnections, sampleTables, type TableSample } from './tables.js';

/** What the service holds at a moment. */
export interface Sample {
  /** Seconds since the load began. */
  at: number;
  rss_mib: number;
  browser_mib: number;
  /** Files and sockets that are open, without the clients' connections: these are as many as answers are awaited. */
  handles: number;
  clients: number;
  database_connections: number;
  /** The same by the name of their pool. */
  pools: Record<string, number>;
  contexts: number;
  pages: number;
  listeners: number;
  /** Operations in memory that do not run yet. */
  waiting: number;
  /** Operations and mailboxes of which rows and memory did not agree, since the service's start. */
  orphans: number;
  /** Operations that have ended, since the service's start. */
  ended: number;
  /** What the service's main thread took to answer for its metrics. */
  answer_ms: number;
  tables: TableSample[];
}

/** Takes a sample every few seconds until it is stopped. */
export class Sampler {
  readonly samples: Sample[] = [];
  readonly #service: BenchService;
  readonly #db: Database;
  readonly #startedAt = performance.now();
  readonly #timer: NodeJS.Timeout;
  readonly #failure = Promise.withResolvers<never>();
  #under: Promise<void> | undefined;

  constructor(service: BenchService, db: Database) {
    this.#service = service;
    this.#db = db;
    this.#failure.promise.catch(() => {});
    this.#timer = setInterval(() => {
      this.#under ??= this.#sample()
        .catch((error: unknown) => this.#failure.reject(error))
        .finally(() => {
          this.#under = undefined;
        });
    }, LIMITS.sample_ms);
  }

  /** Rejects when a sample cannot be taken: the service or its database has ended, and nothing more is to be learned. */
  get failed(): Promise<never> {
    return this.#failure.promise;
  }

  async stop(): Promise<Sample[]> {
    clearInterval(this.#timer);
    await this.#under;
    return this.samples;
  }

  async #sample(): Promise<void> {
    const at = (performance.now() - this.#startedAt) / 1_000;
    const use = useOf(this.#service.pid);
    if (!use) throw new Error('the service has ended');
    const clients = acceptedAt(Number(new URL(this.#service.addresses.url).port));
    const askedAt = performance.now();
    const metrics = await readMetrics(this.#service.addresses.metricsUrl);
    const answer_ms = performance.now() - askedAt;
    const pools = await sampleConnections(this.#db);
    this.samples.push({
      ...{ at, rss_mib: use.rss_mib, handles: use.handles - clients, clients, pools, answer_ms },
      database_connections: Object.values(pools).reduce((sum, count) => sum + count, 0),
      browser_mib: metrics('connection_service_browser_memory_bytes') / 2 ** 20,
      contexts: metrics('connection_service_browser_contexts'),
      pages: metrics('connection_service_browser_pages'),
      listeners: metrics('connection_service_listeners'),
      waiting: metrics('connection_service_mailbox_operations'),
      orphans: metrics('connection_service_operation_orphans_total'),
      ended: metrics('connection_service_operations_finished_total'),
      tables: await sampleTables(this.#db),
    });
  }
}
