import pg from 'pg';
import { Backoff } from '../../storage/backoff.js';
import type { Logger } from '../../storage/log.js';
import { notifyHints } from '../../storage/partitions/hints.js';
import type { Database } from '../../storage/postgres/database.js';
import { endsConnection, NotSent } from '../../storage/postgres/liveness.js';
import type { KeyRing } from '../../storage/secrets/encryption.js';
import { codeContext } from '../../storage/secrets/sealing.js';
import { checkStep, type Steps } from '../../storage/steps.js';
import { LIMITS } from '../limits.js';
import type { Hint } from '../system.js';
import { BusLine } from './bus-line.js';

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
  /** `line` is absent until it listens, and from the loss of its connection until it listens again. */
  | { kind: 'open'; line: BusLine | undefined };

const STEPS: Steps<BusState['kind']> = { new: ['open', 'closed'], open: ['open', 'closed'], closed: [] };

/** Who gets what the bus hears. */
export interface BusEvents {
  /** A hint of any node, this one's as well. */
  hint(hint: Hint): void;
  /** It listens, for the first time or again: what was sent before was not heard. */
  gap(): void;
}

/**
 * Hints between nodes over LISTEN/NOTIFY, on a connection of its own.
 *
 *     new ─ listen ─▶ open, with a line or without one ─ close ─▶ closed, which sends nothing
 *
 * Invariants: I1 hints gather for a moment before they leave, because a NOTIFY takes a global lock until its commit; I2 a
 * challenge code crosses sealed; I3 a lost hint costs time only: every receiver also polls; I4 after each loss of the line, what
 * it may have missed is looked at once it listens again.
 */
export class Bus {
  readonly #options: BusOptions;
  readonly #waits = new Backoff({ first_ms: LIMITS.bus_retry_ms, cap_ms: LIMITS.retry_cap_ms, jitter: true });
  #state: BusState = { kind: 'new' };
  #outgoing: string[] = [];
  #sending = false;

  constructor(options: BusOptions) {
    this.#options = options;
  }

  /** Listens, and listens again whenever the line is lost (I3). Resolves when it listens, or the first try has failed. */
  async listen(events: BusEvents): Promise<void> {
    if (this.#state.kind === 'new') this.#enter({ kind: 'open', line: undefined });
    const line = new BusLine(this.#options.databaseUrl, (payload) => this.#receive(payload, events));
    void line.lost.then(() => this.#lost(line, events));
    try {
      await line.open();
    } catch (error) {
      const refused = error instanceof pg.DatabaseError && !endsConnection(error);
      this.#options.log.warn(
        { err: refused ? error : new NotSent(error) },
        'hints of other nodes are not received, polling only',
      );
      line.close();
      return;
    }
    if (this.#state.kind !== 'open') {
      line.close();
      return;
    }
    this.#enter({ kind: 'open', line });
    this.#waits.reset();
    events.gap(); // I4
  }

  send(hint: Hint): void {
    if (this.#state.kind === 'closed') return;
    const wire: Wire = hint.type === 'code' ? this.#seal(hint) : hint;
    if (this.#outgoing.push(JSON.stringify(wire)) === 1 && !this.#sending) this.#gather();
  }

  close(): void {
    const line = this.#state.kind === 'open' ? this.#state.line : undefined;
    this.#enter({ kind: 'closed' });
    line?.close();
  }

  #enter(state: BusState): void {
    checkStep('the bus', STEPS, this.#state.kind, state.kind);
    this.#state = state;
  }

  #lost(line: BusLine, events: BusEvents): void {
    if (this.#state.kind !== 'open') return;
    if (this.#state.line === line) this.#enter({ kind: 'open', line: undefined });
    setTimeout(() => {
      if (this.#state.kind === 'open') void this.listen(events);
    }, this.#waits.next_ms()).unref();
  }

  #gather(): void {
    this.#sending = true;
    setTimeout(() => void this.#flush(), LIMITS.notify_ms); // I1
  }

  /** One statement at a time, so that hints hold one connection at most. */
  async #flush(): Promise<void> {
    const payloads = [...new Set(this.#outgoing.splice(0))];
    try {
      await notifyHints(this.#options.db, payloads);
    } catch (error) {
      this.#options.log.warn({ err: error }, 'hints could not be sent, owners will poll');
    }
    this.#sending = false;
    if (this.#outgoing.length > 0) this.#gather();
  }

  /** I2 */
  #seal({ code, ...rest }: Extract<Hint, { type: 'code' }>): Wire {
    return { ...rest, sealed: this.#options.ring.seal(code, codeContext(rest.challengeId)).toString('base64') };
  }

  #receive(payload: string, events: BusEvents): void {
    try {
      events.hint(this.#open(JSON.parse(payload) as Wire));
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
