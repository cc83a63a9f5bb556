import pg from 'pg';
import type { Logger } from '../../storage/log/log.js';
import { HINT_CHANNEL, type Notice, notify, WAIT_CHANNEL, wakeChannel } from '../../storage/partitions/hints.js';
import type { Database } from '../../storage/postgres/database.js';
import { endsConnection, NotSent } from '../../storage/postgres/liveness.js';
import { Backoff } from '../../storage/process/backoff.js';
import { checkStep, type Steps } from '../../storage/process/steps.js';
import type { KeyRing } from '../../storage/secrets/encryption.js';
import { codeContext } from '../../storage/secrets/sealing.js';
import { LIMITS } from '../limits.js';
import type { Hint } from '../system.js';
import { BusLine } from './bus-line.js';

export interface BusOptions {
  db: Database;
  nodeId: string;
  databaseUrl: string;
  ring: KeyRing;
  log: Logger;
}

/** A hint as it crosses: JSON, with a code sealed. */
type Wire = Exclude<Hint, { type: 'code' }> | (Omit<Extract<Hint, { type: 'code' }>, 'code'> & { sealed: string });

/** An operation that is awaited at a node. */
export interface RemoteWait {
  operationId: string;
  connectionId: string;
  node: string;
  /** It has settled already: something else about it is awaited. */
  settled: boolean;
}

type BusState =
  | { kind: 'new' | 'closed' }
  /** `line` is absent until it listens, and from the loss of its connection until it listens again. */
  | { kind: 'open'; line: BusLine | undefined };

const STEPS: Steps<BusState['kind']> = { new: ['open', 'closed'], open: ['open', 'closed'], closed: [] };

/** Who gets what the bus hears. */
export interface BusEvents {
  /** A hint of any node, this one's as well. */
  hint(hint: Hint): void;
  /** An operation is awaited at another node. */
  awaited(wait: RemoteWait): void;
  /** An operation that is awaited at this node may have become awaitable. */
  woken(operationId: string): void;
  /** It listens, for the first time or again: what was sent before was not heard. */
  gap(): void;
}

/**
 * Hints between nodes over LISTEN/NOTIFY, on a connection of its own.
 *
 *     new ─ listen ─▶ open, with a line or without one ─ close ─▶ closed, which sends nothing
 *
 * Invariants: I1 hints gather for a moment before they leave, because a NOTIFY takes a global lock until its commit; what somebody waits
 * for gathers only while the one before is under way; I2 a
 * challenge code crosses sealed; I3 a lost hint costs time only: every receiver also polls; I4 after each loss of the line, what
 * it may have missed is looked at once it listens again.
 */
export class Bus {
  readonly #options: BusOptions;
  readonly #waits = new Backoff({ first_ms: LIMITS.bus_retry_ms, cap_ms: LIMITS.retry_cap_ms, jitter: true });
  #state: BusState = { kind: 'new' };
  #outgoing: Notice[] = [];
  #sending = false;
  #gathering: NodeJS.Timeout | undefined;

  constructor(options: BusOptions) {
    this.#options = options;
  }

  /** Listens, and listens again whenever the line is lost (I3). Resolves when it listens, or the first try has failed. */
  async listen(events: BusEvents): Promise<void> {
    if (this.#state.kind === 'new') this.#enter({ kind: 'open', line: undefined });
    const { databaseUrl, nodeId } = this.#options;
    const channels = [HINT_CHANNEL, WAIT_CHANNEL, wakeChannel(nodeId)];
    const line = new BusLine(databaseUrl, channels, (notice) => this.#receive(notice, events));
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
    const wire: Wire = hint.type === 'code' ? this.#seal(hint) : hint;
    this.#push({ channel: HINT_CHANNEL, payload: JSON.stringify(wire) }, LIMITS.notify_ms);
  }

  /** Tells the other nodes that the operation is awaited at this one: its owner will wake it. */
  announce(wait: Omit<RemoteWait, 'node'>): void {
    const payload = JSON.stringify({ ...wait, node: this.#options.nodeId } satisfies RemoteWait);
    this.#push({ channel: WAIT_CHANNEL, payload }, 0);
  }

  /** Tells a node at which the operation is awaited that it may have become awaitable. */
  wake(node: string, operationId: string): void {
    this.#push({ channel: wakeChannel(node), payload: operationId }, 0);
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

  #push(notice: Notice, within_ms: number): void {
    if (this.#state.kind === 'closed') return;
    this.#outgoing.push(notice);
    if (!this.#sending) this.#gather(within_ms);
  }

  /** I1 */
  #gather(within_ms: number): void {
    if (within_ms > 0) {
      this.#gathering ??= setTimeout(() => void this.#flush(), within_ms);
      return;
    }
    clearTimeout(this.#gathering);
    this.#sending = true;
    setImmediate(() => void this.#flush()); // a timer of 0 takes a millisecond
  }

  /** One statement at a time, so that hints hold one connection at most. */
  async #flush(): Promise<void> {
    this.#gathering = undefined;
    this.#sending = true;
    const notices = new Map(this.#outgoing.splice(0).map((notice) => [notice.channel + notice.payload, notice]));
    try {
      await notify(this.#options.db, [...notices.values()]);
    } catch (error) {
      this.#options.log.warn({ err: error }, 'bus: hints could not be sent, owners will poll');
    }
    this.#sending = false;
    if (this.#outgoing.length > 0) this.#gather(this.#outgoing.every(isPatient) ? LIMITS.notify_ms : 0);
  }

  /** I2 */
  #seal({ code, ...rest }: Extract<Hint, { type: 'code' }>): Wire {
    return { ...rest, sealed: this.#options.ring.seal(code, codeContext(rest.challengeId)).toString('base64') };
  }

  #receive({ channel, payload }: Notice, events: BusEvents): void {
    try {
      if (channel === HINT_CHANNEL) events.hint(this.#open(JSON.parse(payload) as Wire));
      else if (channel === WAIT_CHANNEL) events.awaited(JSON.parse(payload) as RemoteWait);
      else events.woken(payload);
    } catch (error) {
      this.#options.log.warn({ err: error }, 'bus: a hint is unreadable');
    }
  }

  #open(wire: Wire): Hint {
    if (wire.type !== 'code') return wire;
    const { sealed, ...rest } = wire;
    const code = this.#options.ring.open(Buffer.from(sealed, 'base64'), codeContext(rest.challengeId));
    return { ...rest, code: code.toString('utf8') };
  }
}

/** True for a hint that nobody waits for. */
const isPatient = ({ channel }: Notice): boolean => channel === HINT_CHANNEL;
