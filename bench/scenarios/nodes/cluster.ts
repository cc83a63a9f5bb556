import { randomBytes } from 'node:crypto';
import { eventually } from '../../kit/eventually.js';
import { LIMITS } from '../../kit/limits.js';
import { readMetrics } from '../../kit/metrics.js';
import type { DatabaseChoice } from '../../kit/postgres/choice.js';
import { type BenchService, startService } from '../../kit/service.js';

/** Nodes on the database of the first of them. */
export class Cluster implements AsyncDisposable {
  readonly nodes: BenchService[] = [];
  readonly #database: DatabaseChoice | undefined;
  readonly #env = { ENCRYPTION_KEYS: `bench:${randomBytes(32).toString('base64')}` };

  /** `database`: of the first node. Absent: what the variable DATABASE asks for. */
  constructor(database?: DatabaseChoice) {
    this.#database = database;
  }

  /** The node that has the database. */
  get first(): BenchService {
    const [first] = this.nodes;
    if (!first) throw new Error('no node has been added');
    return first;
  }

  get metricsUrls(): string[] {
    return this.nodes.map(({ addresses }) => addresses.metricsUrl);
  }

  /** Starts another node; resolves once the partitions are levelled out over all. */
  async add(): Promise<void> {
    const [first] = this.nodes;
    const joins = first && { databaseUrl: await first.withDatabase(async (url) => url), key: first.key };
    this.nodes.push(await startService(this.#env, joins ? { joins } : { database: this.#database }));
    await eventually(
      'the partitions are levelled out',
      () =>
        Promise.all(
          this.metricsUrls.map(async (url) => (await readMetrics(url))('connection_service_node_partitions')),
        ),
      (owned) => Math.min(...owned) > 0 && Math.max(...owned) - Math.min(...owned) <= LIMITS.levelled_partitions,
      { ms: LIMITS.levelled_ms },
    );
  }

  /** The last one first: the first one has the database. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const node of this.nodes.toReversed()) await node[Symbol.asyncDispose]();
  }
}
