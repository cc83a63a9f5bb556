import type { Closing } from '../../../storage/operations/mailboxes.js';
import { checkStep, type Steps } from '../../../storage/process/steps.js';
import { LIMITS } from '../../limits.js';

/** What is asked of the actor that works on a mailbox. */
interface Worker {
  readonly waiting: number;
  readonly running: boolean;
  readonly inHand: string[];
}

/** `version`: that of its job, by which a closing knows this opening from any other. */
type MailboxState = { kind: 'shut' } | { kind: 'open' | 'closing' | 'unsure'; version: string };

const STEPS: Steps<MailboxState['kind']> = {
  shut: ['open', 'shut'],
  open: ['open', 'closing', 'shut'],
  closing: ['open', 'unsure', 'shut'],
  unsure: ['open', 'closing', 'shut'],
};

/** The mailbox of one connection in memory, with its actor. */
interface HeldMailbox<Actor> {
  readonly actor: Actor;
  state: MailboxState;
  /** Since when nothing of it is in hand, by the monotonic clock. */
  idle_ms: number | undefined;
  /** Operations that ended since its mark was moved. */
  ended: number;
}

/** A mailbox that is to be closed: the lowest id in hand; null: nothing is. */
export interface DueForClosing<Actor> {
  actor: Actor;
  version: string;
  from: string | null;
}

/**
 * The mailboxes of a partition in memory: an actor that only looks has a shut one.
 *
 *     shut      the rows do not show it as open, as far as is known: what is accepted makes it due
 *     open      the rows show it as open: what is accepted here is handed to it
 *     closing   a statement closes it or moves its mark: what is accepted makes it due
 *     unsure    the statement changed nothing, or its answer was lost: as `closing`, until another one tells, or it is opened anew
 *
 *     shut ─ opened ─▶ open ─ nothing in hand for LIMITS.mailbox_idle_ms, or many ended ─▶ closing ─ closed ─▶ shut
 *                       ▲──────────────────────── moved, or opened anew ───────────────────────┤
 *                       ▲─── opened anew ─── unsure ◀─ left, or no answer ─────────────────────┘
 *                                              └─ closed again ─▶ closing
 *     every state ─ closeAll (the partition is taken again) ─▶ shut
 *
 * Invariants: I1 nothing is closed while an operation is being stored for it or is to be taken, and what is stored while it is not `open` is not
 * counted on as open; I2 an actor with anything in hand stays.
 */
export class Mailboxes<Actor extends Worker> {
  readonly #make: (connectionId: string) => Actor;
  readonly #held = new Map<string, HeldMailbox<Actor>>();
  /** How many operations are being stored, by connection. */
  readonly #storing = new Map<string, number>();
  /** Those that may be due for closing. */
  readonly #candidates = new Set<string>();

  constructor(make: (connectionId: string) => Actor) {
    this.#make = make;
  }

  get size(): number {
    return this.#held.size;
  }

  actor(connectionId: string): Actor | undefined {
    return this.#held.get(connectionId)?.actor;
  }

  *actors(): Iterable<Actor> {
    for (const { actor } of this.#held.values()) yield actor;
  }

  /** The connection's actor; made, with a shut mailbox, when there is none. */
  of(connectionId: string): Actor {
    return this.#of(connectionId).actor;
  }

  /** True unless the mailbox is shut: its owner counts on its job being there. */
  isHeld(connectionId: string): boolean {
    return (this.#held.get(connectionId)?.state.kind ?? 'shut') !== 'shut';
  }

  /** The connections whose mailboxes are open, and not about to be closed. */
  *openOnes(): Iterable<string> {
    for (const [connectionId, { state }] of this.#held) if (state.kind === 'open') yield connectionId;
  }

  /** The rows show the connection's mailbox as open now. `version`: undefined when they showed it as open before. */
  open(connectionId: string, version?: string): Actor {
    const mailbox = this.#of(connectionId);
    const known = 'version' in mailbox.state ? mailbox.state.version : undefined;
    this.#enter(mailbox, { kind: 'open', version: version ?? known ?? UNKNOWN_VERSION });
    mailbox.idle_ms = performance.now();
    this.#candidates.add(connectionId);
    return mailbox.actor;
  }

  /** An operation of it is being stored, until `stored`. True when its mailbox is open. */
  storing(connectionId: string): boolean {
    this.#storing.set(connectionId, (this.#storing.get(connectionId) ?? 0) + 1);
    return this.#held.get(connectionId)?.state.kind === 'open'; // I1
  }

  /** True while an operation of it is being stored: the rows may show its mailbox as open before its owner knows. */
  isStoring(connectionId: string): boolean {
    return this.#storing.has(connectionId);
  }

  stored(connectionId: string): void {
    const left = (this.#storing.get(connectionId) ?? 1) - 1;
    if (left > 0) this.#storing.set(connectionId, left);
    else this.#storing.delete(connectionId);
  }

  /** An operation of it is over. */
  ended(connectionId: string): void {
    const mailbox = this.#held.get(connectionId);
    if (mailbox && ++mailbox.ended >= LIMITS.mailbox_ended) this.#candidates.add(connectionId);
  }

  /** Its actor has nothing more to do. */
  idle(connectionId: string): void {
    const mailbox = this.#held.get(connectionId);
    if (!mailbox) return;
    if (mailbox.state.kind === 'shut') this.#forget(connectionId, mailbox);
    else {
      mailbox.idle_ms = performance.now();
      this.#candidates.add(connectionId);
    }
  }

  /** The rows show none of them as open any more. */
  closeAll(): void {
    for (const [connectionId, mailbox] of this.#held) this.#shut(connectionId, mailbox);
    this.#candidates.clear();
  }

  /** Those to close now, but for those of `arriving`, whose actors are to take something: they are `closing` until `closed`. */
  toClose(now_ms: number, arriving: ReadonlySet<string>): DueForClosing<Actor>[] {
    const due: DueForClosing<Actor>[] = [];
    for (const connectionId of this.#candidates) {
      const mailbox = this.#held.get(connectionId);
      if (!mailbox || mailbox.state.kind === 'shut') {
        this.#candidates.delete(connectionId);
        continue;
      }
      const { actor, idle_ms = now_ms, ended, state } = mailbox;
      const idle = isIdle(actor);
      const unsure = state.kind === 'unsure';
      if (!idle && !unsure && ended < LIMITS.mailbox_ended) {
        this.#candidates.delete(connectionId);
        continue;
      }
      if (state.kind === 'closing' || this.#storing.has(connectionId) || arriving.has(connectionId)) continue; // I1
      if (idle && !unsure && now_ms - idle_ms < LIMITS.mailbox_idle_ms) continue;
      const { version } = state;
      this.#enter(mailbox, { kind: 'closing', version });
      mailbox.ended = 0;
      this.#candidates.delete(connectionId);
      due.push({ actor, version, from: idle ? null : lowest(actor.inHand) });
    }
    return due;
  }

  /** What became of a mailbox that was to be closed; undefined: it is not known. Nothing when it was opened anew meanwhile. */
  closed(connectionId: string, closed: Closing | undefined): void {
    const mailbox = this.#held.get(connectionId);
    if (mailbox?.state.kind !== 'closing') return;
    switch (closed?.kind) {
      case 'closed':
        this.#shut(connectionId, mailbox);
        return;
      case 'moved':
        this.#enter(mailbox, { kind: 'open', version: closed.version });
        break;
      case 'left':
        this.#enter(mailbox, { kind: 'unsure', version: closed.version });
        break;
      case undefined:
        this.#enter(mailbox, { kind: 'unsure', version: mailbox.state.version });
        break;
      default:
        closed satisfies never;
    }
    this.#candidates.add(connectionId);
  }

  #of(connectionId: string): HeldMailbox<Actor> {
    const known = this.#held.get(connectionId);
    if (known) return known;
    const actor = this.#make(connectionId);
    const mailbox: HeldMailbox<Actor> = { actor, state: { kind: 'shut' }, idle_ms: undefined, ended: 0 };
    this.#held.set(connectionId, mailbox);
    return mailbox;
  }

  #enter(mailbox: HeldMailbox<Actor>, state: MailboxState): void {
    checkStep('a mailbox', STEPS, mailbox.state.kind, state.kind);
    mailbox.state = state;
  }

  #shut(connectionId: string, mailbox: HeldMailbox<Actor>): void {
    this.#enter(mailbox, { kind: 'shut' });
    this.#forget(connectionId, mailbox);
  }

  #forget(connectionId: string, { actor }: HeldMailbox<Actor>): void {
    if (isIdle(actor)) this.#held.delete(connectionId); // I2
  }
}

/** Of no row: a closing leaves the mailbox, and tells its version. */
const UNKNOWN_VERSION = '0';

const isIdle = ({ waiting, running }: Worker) => waiting === 0 && !running;

function lowest(ids: string[]): string | null {
  let first: string | null = null;
  for (const id of ids) if (first === null || id < first) first = id;
  return first;
}
