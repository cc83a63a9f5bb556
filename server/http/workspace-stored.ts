import { LRUCache } from 'lru-cache';
import { Background } from '../../storage/background.js';
import { LIMITS as STORAGE_LIMITS } from '../../storage/limits.js';
import type { Logger } from '../../storage/log.js';
import type { Sql } from '../../storage/postgres/database.js';
import { noteStored, storedBytes } from '../../storage/workspaces/stored.js';
import { LIMITS } from './limits.js';
import { turnLoader } from './loader.js';

const MIB = 2 ** 20;

/**
 * What limited workspaces store, as a node knows it (HTTP-27): what the database said, and what the node accepted since it told that last. Costs
 * nothing where no limit applies, because nobody asks then.
 *
 * I1. A submission waits for the database only where nothing is known of its workspace yet. What is older than a second is asked for anew beside it.
 */
export class WorkspaceStored {
  readonly #db: Sql;
  readonly #log: Logger;
  /** Bytes. */
  readonly #known: LRUCache<string, number>;
  readonly #notes: Background;
  #accepted = new Map<string, number>();

  constructor(db: Sql, log: Logger) {
    this.#db = db;
    this.#log = log;
    const look = turnLoader((ids) => storedBytes(db, ids));
    this.#known = new LRUCache({
      max: LIMITS.key_cache_keys,
      ttl: STORAGE_LIMITS.stored_note_ms,
      fetchMethod: async (workspaceId) => (await look(workspaceId)) ?? 0,
      noDeleteOnFetchRejection: true,
    });
    this.#notes = new Background(async () => {
      await this.#tell();
      return STORAGE_LIMITS.stored_note_ms;
    });
  }

  start(): void {
    this.#notes.start();
  }

  /** Begins no further round, and tells what was accepted. */
  async close(): Promise<void> {
    await this.#notes.stop();
    await this.#tell();
  }

  /** MiB, about; a second old at most. */
  async used_mib(workspaceId: string): Promise<number> {
    return this.#with(workspaceId, await this.#known.fetch(workspaceId));
  }

  /** MiB, about, as last known (I1). */
  async lastUsed_mib(workspaceId: string): Promise<number> {
    return this.#with(workspaceId, await this.#known.fetch(workspaceId, { allowStale: true }));
  }

  #with(workspaceId: string, known = 0): number {
    return (known + (this.#accepted.get(workspaceId) ?? 0)) / MIB;
  }

  /** An operation of a limited workspace was stored; `bytes` of its input. */
  accepted(workspaceId: string, bytes: number): void {
    this.#accepted.set(workspaceId, (this.#accepted.get(workspaceId) ?? 0) + bytes);
  }

  /** What cannot be told now is told with the next; the next measurement finds it in any case. */
  async #tell(): Promise<void> {
    const accepted = this.#accepted;
    if (accepted.size === 0) return;
    this.#accepted = new Map();
    try {
      await noteStored(this.#db, accepted);
    } catch (error) {
      for (const [workspaceId, bytes] of accepted) this.accepted(workspaceId, bytes);
      this.#log.debug({ err: error }, 'what was accepted is not noted yet');
    }
  }
}
