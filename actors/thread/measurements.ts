import { measurePartitions, type PartitionMeasures } from '../../storage/partitions/measures.js';
import type { Sql } from '../../storage/postgres/database.js';
import type { OwnedPartitions } from './owned-partitions.js';

/**
 * What only rows can tell of the partitions of a thread, for metrics: read now and then, and only by who owns them, so that the figures
 * of all threads and nodes add up.
 */
export class Measurements {
  readonly #db: Sql;
  readonly #owned: OwnedPartitions;
  #last: PartitionMeasures | undefined;

  constructor(db: Sql, owned: OwnedPartitions) {
    this.#db = db;
    this.#owned = owned;
  }

  /** As last read; undefined until then. */
  get last(): PartitionMeasures | undefined {
    return this.#owned.ids.length === 0 ? NOTHING : this.#last;
  }

  /** Rejects when the database does not answer. */
  async measure(): Promise<void> {
    const { ids } = this.#owned;
    if (ids.length > 0) this.#last = await measurePartitions(this.#db, ids);
  }
}

const NOTHING: PartitionMeasures = {
  ...{ connections: [], open_gaps: 0, unknown_outcomes: 0, unfetched: 0, oldest_unfetched_s: 0 },
};
