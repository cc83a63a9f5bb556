import { Background } from '../../storage/background.js';
import {
  listWithoutDestination,
  storeDestinations,
  type WithoutDestination,
} from '../../storage/deliveries/missing-destinations.js';
import { callbackUrlOf } from '../../storage/deliveries/subscriptions.js';
import { LIMITS as STORAGE_LIMITS } from '../../storage/limits.js';
import type { Logger } from '../../storage/log.js';
import type { Sql } from '../../storage/postgres/database.js';

export interface MissingDestinationsOptions {
  db: Sql;
  log: Logger;
  /** The hash of where a callback of the workspace leads. Throws for what is no URL. */
  hash: (workspaceId: string, callbackUrl: string) => Buffer;
}

/**
 * Gives the subscriptions from before there were hashes of destinations theirs, so that they are paused and counted as all others are
 * (EVT-17, HTTP-13). Each start goes through them once, page after page, beside the service: the last node of a rolling restart finds
 * what those of the version before have stored. One whose address cannot be opened or read stays as it is.
 */
export class MissingDestinations {
  readonly #options: MissingDestinationsOptions;
  readonly #fill: Background;
  #after = '00000000-0000-0000-0000-000000000000';

  constructor(options: MissingDestinationsOptions) {
    this.#options = options;
    this.#fill = new Background(() => this.#round());
  }

  start(): void {
    this.#fill.start();
  }

  /** Resolves when the page under way is stored. */
  stop(): Promise<void> {
    return this.#fill.stop();
  }

  /** Resolves when none is left that can be given one, or it was stopped. A page that fails is tried again. */
  get filled(): Promise<void> {
    return this.#fill.ended;
  }

  async #round(): Promise<number | undefined> {
    const { db, log } = this.#options;
    try {
      const last = await this.#page(db, this.#after);
      if (last === undefined) return undefined;
      this.#after = last;
      return STORAGE_LIMITS.destination_pause_ms;
    } catch (error) {
      log.warn({ err: error }, 'subscriptions lack the hash of their destination, trying again');
      return STORAGE_LIMITS.destination_retry_ms;
    }
  }

  /** Gives the last id of the page; undefined behind the last page. */
  async #page(db: Sql, after: string): Promise<string | undefined> {
    const page = await listWithoutDestination(db, after);
    const hashes = page.flatMap((row) => this.#hashOf(row));
    if (hashes.length > 0) await storeDestinations(db, hashes);
    return page.length < STORAGE_LIMITS.destination_rows ? undefined : page.at(-1)?.id;
  }

  #hashOf(row: WithoutDestination): { id: string; destination: Buffer }[] {
    const { db, log, hash } = this.#options;
    try {
      return [{ id: row.id, destination: hash(row.workspace_id, callbackUrlOf(db, row)) }];
    } catch (error) {
      log.debug({ err: error, subscription_id: row.id }, 'where a subscription leads cannot be read');
      return [];
    }
  }
}
