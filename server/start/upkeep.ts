import { auditUpkeep } from '../../storage/audit/parts.js';
import type { Logger } from '../../storage/log/log.js';
import { expiredSecrets } from '../../storage/maintenance/expired-secrets.js';
import { Removals } from '../../storage/maintenance/removals.js';
import { type RetentionStats, retention } from '../../storage/maintenance/retention/retention.js';
import { storedMeter } from '../../storage/maintenance/stored-meter.js';
import { settling } from '../../storage/maintenance/subscription-propagation.js';
import type { Database } from '../../storage/postgres/database.js';
import type { Config } from './settings/config.js';

export interface UpkeepOptions {
  config: Config;
  log: Logger;
  db: Database;
  control: Database;
  /** Gets what retention erased, and how far it is behind. */
  retained(stats: RetentionStats): void;
}

/** What every node looks after beside the requests, in slices: removals, retention, measurements, parts of the audit log. */
export class Upkeep {
  readonly #work: { start(): void; stop(): Promise<void> }[];

  constructor({ config, log, db, control, retained }: UpkeepOptions) {
    this.#work = [
      new Removals({ db, log }),
      settling({ db, log }),
      expiredSecrets(control, log),
      retention({ db, log, days: config.retention, stats: retained }),
      storedMeter({ db, log, bound: storedBound(config) }),
      auditUpkeep({ db, log }),
    ];
  }

  start(): void {
    for (const one of this.#work) one.start();
  }

  /** Resolves when the slices under way are done. */
  async stop(): Promise<void> {
    await Promise.all(this.#work.map((one) => one.stop()));
  }
}

/** Bytes that a workspace may store; null: any number. */
export function storedBound({ workspaceLimits: { stored_mib } }: Config): number | null {
  return stored_mib && stored_mib * 2 ** 20;
}
