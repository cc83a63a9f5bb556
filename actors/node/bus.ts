import pg from 'pg';
import type { Logger } from '../../storage/log.js';
import { HINT_CHANNEL, notifyHints } from '../../storage/partitions/hints.js';
import type { Database } from '../../storage/postgres/database.js';
import type { KeyRing } from '../../storage/secrets/encryption.js';
import { codeContext } from '../../storage/secrets/sealing.js';
import { checkStep, type Steps } from '../../storage/steps.js';
import { LIMITS } from '../limits.js';
import type { Hint } from '../system.js';

export interface BusOptions {
  db: Database;
  databaseUrl: string;
  ring: KeyRing;
  log: Logger;
}

/** A hint as it crosses: JSON, with a code sealed. */
type Wire = Exclude<Hint, { type: 'code' }> | (Omit<Extract<Hint, { type: 'code' }>, 'code'> & { sealed: string });

type BusState =
  | { kind: 'new' | 'closed' }
  /** `client` is absent until it listens, and from the loss of its connection until it listens again. */
  | { kind: 'open'; client: pg.Client | undefined };

const STEPS: Steps<BusState['kind']> = { new: ['open', 'closed'], open: ['open', 'closed'], closed: [] };

/**
 * Hints between nodes over LISTEN/NOTIFY, on a connection of its own.
 *
 *     new ─ listen ─▶ open, with a client or without one ─ close ─▶ closed, which sends nothing
 *
 * Invariants: I1 hints gather for a moment before they leave, because a NOTIFY takes a global lock until its commit; I2 a
 * challenge code crosses sealed; I3 a lost hint costs time only: every receiver also polls.
 */
export class Bus {
  readonly #options: BusOptions;
  #state: BusState = { kind: 'new' };
  #outgoing: string[] = [];

  constructor(options: BusOptions) {
    this.#options = options;
  }

  /** Listens, and listens again whenever the connection is lost (I3). `receive` gets the hints of all nodes, this one's as well. */
  async listen(receive: (hint: Hint) => void): Promise<void> {
    if (this.#state.kind === 'new') this.#enter({ kind: 'open', client: undefined });
    const client = new pg.Client({
      connectionString: this.#options.databaseUrl,
      application_name: 'connection-service bus',
    });
    client.on('notification', ({ payload }) => this.#receive(payload ?? '', receive));
    client.on('error', () => {});
    client.on('end', () => this.#lost(client, receive));
    try {
      await client.connect();
      await client.query(`listen ${HINT_CHANNEL}`);
      if (this.#state.kind === 'open') this.#enter({ kind: 'open', client });
      else await client.end();
    } catch (error) {
      this.#options.log.warn({ err: error }, 'hints of other nodes are not received, polling only');
      await client.end().catch(() => {});
    }
  }

  send(hint: Hint): void {
    if (this.#state.kind === 'closed') return;
    const wire: Wire = hint.type === 'code' ? this.#seal(hint) : hint;
    if (this.#outgoing.push(JSON.stringify(wire)) > 1) return;
    setTimeout(() => void this.#flush(), LIMITS.notify_ms); // I1
  }

  async close(): Promise<void> {
    const client = this.#state.kind === 'open' ? this.#state.client : undefined;
    this.#enter({ kind: 'closed' });
    await client?.end().catch(() => {});
  }

  #enter(state: BusState): void {
    checkStep('the bus', STEPS, this.#state.kind, state.kind);
    this.#state = state;
  }

  #lost(client: pg.Client, receive: (hint: Hint) => void): void {
    if (this.#state.kind !== 'open') return;
    if (this.#state.client === client) this.#enter({ kind: 'open', client: undefined });
    setTimeout(() => void this.#listenAgain(receive), LIMITS.poll_ms).unref();
  }

  async #listenAgain(receive: (hint: Hint) => void): Promise<void> {
    if (this.#state.kind === 'open') await this.listen(receive);
  }

  async #flush(): Promise<void> {
    const payloads = [...new Set(this.#outgoing.splice(0))];
    try {
      await notifyHints(this.#options.db, payloads);
    } catch (error) {
      this.#options.log.warn({ err: error }, 'hints could not be sent, owners will poll');
    }
  }

  /** I2 */
  #seal({ code, ...rest }: Extract<Hint, { type: 'code' }>): Wire {
    return { ...rest, sealed: this.#options.ring.seal(code, codeContext(rest.challengeId)).toString('base64') };
  }

  #receive(payload: string, receive: (hint: Hint) => void): void {
    try {
      receive(this.#open(JSON.parse(payload) as Wire));
    } catch (error) {
      this.#options.log.warn({ err: error }, 'unreadable hint');
    }
  }

  #open(wire: Wire): Hint {
    if (wire.type !== 'code') return wire;
    const { sealed, ...rest } = wire;
    const code = this.#options.ring.open(Buffer.from(sealed, 'base64'), codeContext(rest.challengeId));
    return { ...rest, code: code.toString('utf8') };
  }
}
