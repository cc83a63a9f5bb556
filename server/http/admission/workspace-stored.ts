import { LRUCache } from 'lru-cache';
import { LIMITS as STORAGE_LIMITS } from '../../../storage/limits.js';
import type { Logger } from '../../../storage/log/log.js';
import { noteStored, storedBytes } from '../../../storage/maintenance/stored.js';
import type { Sql } from '../../../storage/postgres/database.js';
import { Background } from '../../../storage/process/background.js';
import { atMost } from '../../../storage/process/cache-size.js';
import { LIMITS } from '../limits.js';
import { type Loader, rememberingLoader, turnLoader } from '../loader.js';

const MIB = 2 ** 20;

/**
 * What limited workspaces store, as a node knows it (HTTP-27): what the database said, and what the node accepted since it told that last. Costs
 * nothing where no limit applies, because nobody asks then.
 *
 * I1. A submission waits for the database only where nothing is known of its workspace yet, or where it would be refused. Else it costs no
 *     statement: what a node tells is answered with what the workspace takes then. So a sum that is old grows right within a second of use.
 */
export class WorkspaceStored {
  readonly #db: Sql;
  readonly #log: Logger;
  /** Bytes, a second old at most. */
  readonly #look: Loader<number>;
  /** Bytes, as last known. */
  readonly #known = new LRUCache<string, number>(atMost(LIMITS.key_cache_keys));
  readonly #notes: Background;
  #accepted = new Map<string, number>();

  constructor(db: Sql, log: Logger) {
    this.#db = db;
    this.#log = log;
    this.#look = rememberingLoader(
      turnLoader((ids) => storedBytes(db, ids)),
      LIMITS.key_cache_keys,
      STORAGE_LIMITS.stored_note_ms,
    );
    this.#notes = new Background(async () => {
      const began = performance.now();
      await this.#tell();
      return Math.max(STORAGE_LIMITS.stored_note_ms, 10 * (performance.now() - began));
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
    const bytes = (await this.#look(workspaceId)) ?? 0;
    this.#known.set(workspaceId, bytes);
    return this.#with(workspaceId, bytes);
  }

  /** Whether it stores less than this (I1). */
  async isBelow(bound_mib: number, workspaceId: string): Promise<boolean> {
    const known = this.#known.get(workspaceId);
    if (known !== undefined && this.#with(workspaceId, known) < bound_mib) return true;
    return (await this.used_mib(workspaceId)) < bound_mib;
  }

  #with(workspaceId: string, bytes: number): number {
    return (bytes + (this.#accepted.get(workspaceId) ?? 0)) / MIB;
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
      const taken = await noteStored(this.#db, accepted);
      for (const [workspaceId, bytes] of taken) this.#known.set(workspaceId, bytes);
    } catch (error) {
      for (const [workspaceId, bytes] of accepted) this.accepted(workspaceId, bytes);
      this.#log.debug({ err: error }, 'stored meter: what was accepted is not noted yet');
    }
  }
}
