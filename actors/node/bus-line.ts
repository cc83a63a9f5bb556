import { Socket } from 'node:net';
import pg from 'pg';
import type { Notice } from '../../storage/partitions/hints.js';
import { ServiceClient } from '../../storage/postgres/service-client.js';
import { Deadline } from '../../storage/process/deadline.js';
import { LIMITS } from '../limits.js';

/**
 * The connection on which a node listens for hints.
 *
 *     opening ─ listens ─▶ open ─ ended, in error, a heartbeat unanswered, close ─▶ lost, for good
 *
 * Invariants: I1 a link that passes nothing any more is noticed within two LIMITS.bus_heartbeat_ms, although nothing is sent on it;
 * I2 when it is lost its socket is gone, whatever the other side does.
 */
export class BusLine {
  /** Resolves when the connection is gone, also when it could not be made. */
  readonly lost: Promise<void>;
  readonly #socket = new Socket();
  readonly #client: pg.Client;
  readonly #channels: readonly string[];
  #heartbeat: NodeJS.Timeout | undefined;

  constructor(databaseUrl: string, channels: readonly string[], onNotice: (notice: Notice) => void) {
    this.#channels = channels;
    const ended = Promise.withResolvers<void>();
    this.lost = ended.promise;
    this.#client = new ServiceClient({
      connectionString: databaseUrl,
      application_name: 'connection-service bus',
      stream: () => this.#socket,
    });
    this.#client.on('notification', ({ channel, payload }) => onNotice({ channel, payload: payload ?? '' }));
    this.#client.on('error', () => this.close());
    this.#socket.on('close', () => {
      clearInterval(this.#heartbeat);
      ended.resolve();
    });
  }

  /** Connects and listens. Rejects when the database does not answer in time. */
  async open(): Promise<void> {
    await Deadline.within(LIMITS.bus_heartbeat_ms, this.#client.connect());
    await this.#answered(this.#channels.map((channel) => `listen ${pg.escapeIdentifier(channel)}`).join(';'));
    this.#heartbeat = setInterval(
      () => void this.#answered('select 1').catch(() => this.close()),
      LIMITS.bus_heartbeat_ms,
    ); // I1
  }

  /** I2 */
  close(): void {
    this.#socket.destroy();
  }

  async #answered(statement: string): Promise<void> {
    await Deadline.within(LIMITS.bus_heartbeat_ms, this.#client.query(statement));
  }
}
