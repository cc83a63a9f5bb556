import { LRUCache } from 'lru-cache';
import { countReveals, type KnownReveal, readerOf, recordReveal } from '../../storage/audit/reveals.js';
import type { Logger } from '../../storage/log/log.js';
import type { NewAuditEntry } from '../../storage/model/audit.js';
import type { Database } from '../../storage/postgres/database.js';
import { Background } from '../../storage/process/background.js';
import { atMost } from '../../storage/process/cache-size.js';
import { LIMITS } from './limits.js';

type Counted = KnownReveal & { reads: number };

/**
 * What this node has shown to whom (HTTP-30). The first look of a reader at an object within an hour is committed with its entry before the answer
 * leaves; further ones are counted here, and stored a second later: a crash loses of a count what was not stored, and of the entries nothing.
 */
export class Reveals {
  readonly #db: Database;
  readonly #log: Logger;
  readonly #known = new LRUCache<string, KnownReveal>({ ...atMost(LIMITS.reveals_known), ttlResolution: 0 });
  readonly #stores: Background;
  #counted = new Map<string, Counted>();

  constructor(db: Database, log: Logger) {
    this.#db = db;
    this.#log = log;
    this.#stores = new Background(async () => {
      await this.#store();
      return LIMITS.reveals_store_ms;
    });
  }

  start(): void {
    this.#stores.start();
  }

  /** Begins no further round, and stores what was counted. */
  async close(): Promise<void> {
    await this.#stores.stop();
    await this.#store();
  }

  /** Resolves when it is in the log that the entry's reader was shown its targets: true where that took a transaction. */
  async note(db: Database, entry: NewAuditEntry): Promise<boolean> {
    const reader = readerOf(entry);
    const keyOf = (id: string) => `${entry.action} ${id} ${reader}`;
    const unknown = entry.targets.filter(([, id]) => !this.#count(keyOf(id)));
    if (unknown.length === 0) return false;
    const { known, left_ms } = await db.transaction((tx) => recordReveal(tx, { ...entry, targets: unknown }));
    if (left_ms > 0) for (const one of known) this.#known.set(keyOf(one.targetId), one, { ttl: left_ms });
    return true;
  }

  #count(key: string): boolean {
    const known = this.#known.get(key);
    if (known) this.#add(key, { ...known, reads: 1 });
    return known !== undefined;
  }

  #add(key: string, counted: Counted): void {
    const at = `${key} ${counted.hour.getTime()}`;
    const before = this.#counted.get(at);
    this.#counted.set(at, { ...counted, reads: counted.reads + (before?.reads ?? 0) });
  }

  async #store(): Promise<void> {
    const counted = this.#counted;
    if (counted.size === 0) return;
    this.#counted = new Map();
    try {
      await countReveals(this.#db, [...counted.values()]);
    } catch (error) {
      for (const one of counted.values()) this.#add(`${one.action} ${one.targetId} ${one.reader}`, one);
      this.#log.debug({ err: error }, 'audit: counts of reveals are not stored yet');
    }
  }
}
