import pg from 'pg';
import type { Logger } from '../../storage/log.js';
import { HINT_CHANNEL, notifyHints } from '../../storage/partitions/hints.js';
import type { Database } from '../../storage/postgres/database.js';
import type { KeyRing } from '../../storage/secrets/encryption.js';
import { codeContext } from '../../storage/secrets/sealing.js';
import { LIMITS } from '../limits.js';
import type { Hint } from '../system.js';

/**
 * Signals between nodes over LISTEN/NOTIFY, on a connection of its own. They gather for a moment, because a NOTIFY takes a
 * global lock until its commit. A lost one costs time, not truth: every receiver also polls. A challenge code crosses sealed.
 */
export interface BusOptions {
  db: Database;
  databaseUrl: string;
  ring: KeyRing;
  log: Logger;
  receive(signal: Hint): void;
}

type Wire = Exclude<Hint, { type: 'code' }> | (Omit<Extract<Hint, { type: 'code' }>, 'code'> & { sealed: string });

export class Bus {
  #client: pg.Client | undefined;
  #outgoing: string[] = [];
  #closed = false;

  constructor(private readonly options: BusOptions) {}

  /** Listens, and listens again whenever the connection is lost. */
  async listen(): Promise<void> {
    const client = new pg.Client({
      connectionString: this.options.databaseUrl,
      application_name: 'connection-service bus',
    });
    client.on('notification', ({ payload }) => this.#receive(payload ?? ''));
    client.on('error', () => {});
    client.on('end', () => {
      if (this.#client === client) this.#client = undefined;
      if (!this.#closed) setTimeout(() => void this.listen().catch(() => {}), LIMITS.poll_ms).unref();
    });
    try {
      await client.connect();
      await client.query(`listen ${HINT_CHANNEL}`);
      this.#client = client;
    } catch (error) {
      this.options.log.warn({ err: error }, 'signals from other nodes are not heard, polling only');
      await client.end().catch(() => {});
    }
  }

  send(signal: Hint): void {
    if (this.#closed) return;
    const wire: Wire = signal.type === 'code' ? this.#sealed(signal) : signal;
    if (this.#outgoing.push(JSON.stringify(wire)) > 1) return;
    setTimeout(() => void this.#flush(), LIMITS.notify_ms);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#client?.end().catch(() => {});
  }

  async #flush(): Promise<void> {
    const payloads = [...new Set(this.#outgoing.splice(0))];
    try {
      await notifyHints(this.options.db, payloads);
    } catch (error) {
      this.options.log.warn({ err: error }, 'signals could not be sent, owners will poll');
    }
  }

  #sealed({ code, ...rest }: Extract<Hint, { type: 'code' }>): Wire {
    return { ...rest, sealed: this.options.ring.seal(code, codeContext(rest.challengeId)).toString('base64') };
  }

  #receive(payload: string): void {
    try {
      const wire = JSON.parse(payload) as Wire;
      if (wire.type !== 'code') {
        this.options.receive(wire);
        return;
      }
      const { sealed, ...rest } = wire;
      const code = this.options.ring
        .open(Buffer.from(sealed, 'base64'), codeContext(rest.challengeId))
        .toString('utf8');
      this.options.receive({ ...rest, code });
    } catch (error) {
      this.options.log.warn({ err: error }, 'unreadable signal');
    }
  }
}
