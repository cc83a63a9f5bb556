import { LIMITS } from '../limits.js';

/** What is asked of the actor that works on a mailbox. */
interface Worker {
  readonly waiting: number;
  readonly running: boolean;
  readonly inHand: string[];
}

/** The mailbox of one connection in memory, with its actor. */
export interface HeldMailbox<Actor> {
  readonly actor: Actor;
  /** The rows show it as open, as far as is known: what is accepted here may be handed to it. */
  open: boolean;
  /** It is being settled: what is stored meanwhile makes it due. */
  settling: boolean;
  /** Since when nothing of it is in hand, by the monotonic clock. */
  idle_ms: number | undefined;
  /** Operations that ended since its mark was moved. */
  ended: number;
}

/**
 * The mailboxes of a partition in memory, open or not: an actor that only looks has none open.
 *
 *     absent ─ open ─▶ open ─ nothing in hand for LIMITS.mailbox_idle_ms ─▶ settling ─ closed ─▶ absent
 *                        ▲──────────────── handed to, or not closed ───────────┘
 *     open ─ closeAll (the partition is taken again) ─▶ not open ─ idle ─▶ absent
 *
 * Invariants: I1 nothing is settled while an operation is being stored for it, and what is stored while it is being settled is not
 * counted on as open; I2 an actor with anything in hand stays.
 */
export class Mailboxes<Actor extends Worker> {
  readonly #make: (connectionId: string) => Actor;
  readonly #held = new Map<string, HeldMailbox<Actor>>();
  /** How many operations are being stored, by connection. */
  readonly #storing = new Map<string, number>();
  /** Those that may be due for settling. */
  readonly #candidates = new Set<string>();

  constructor(make: (connectionId: string) => Actor) {
    this.#make = make;
  }

  get size(): number {
    return this.#held.size;
  }

  get(connectionId: string): HeldMailbox<Actor> | undefined {
    return this.#held.get(connectionId);
  }

  *actors(): Iterable<Actor> {
    for (const { actor } of this.#held.values()) yield actor;
  }

  /** The connection's mailbox; made, not open, when there is none. */
  of(connectionId: string): HeldMailbox<Actor> {
    const known = this.#held.get(connectionId);
    if (known) return known;
    const actor = this.#make(connectionId);
    const mailbox = { actor, open: false, settling: false, idle_ms: undefined, ended: 0 };
    this.#held.set(connectionId, mailbox);
    return mailbox;
  }

  /** The connection's mailbox, which the rows show as open now. */
  open(connectionId: string): HeldMailbox<Actor> {
    const mailbox = this.of(connectionId);
    mailbox.open = true;
    mailbox.settling = false;
    mailbox.idle_ms = performance.now();
    this.#candidates.add(connectionId);
    return mailbox;
  }

  storing(connectionId: string): boolean {
    this.#storing.set(connectionId, (this.#storing.get(connectionId) ?? 0) + 1);
    const mailbox = this.#held.get(connectionId);
    return mailbox?.open === true && !mailbox.settling; // I1
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
    if (!mailbox.open) this.#forget(connectionId, mailbox);
    else {
      mailbox.idle_ms = performance.now();
      this.#candidates.add(connectionId);
    }
  }

  /** The rows show none of them as open any more. */
  closeAll(): void {
    for (const [connectionId, mailbox] of this.#held) {
      mailbox.open = false;
      mailbox.settling = false;
      this.#forget(connectionId, mailbox);
    }
    this.#candidates.clear();
  }

  /** Those to settle now, with the lowest id in hand; null: nothing is. They count as being settled until `settled`. */
  toSettle(now_ms: number): { actor: Actor; from: string | null }[] {
    const due: { actor: Actor; from: string | null }[] = [];
    for (const connectionId of this.#candidates) {
      const mailbox = this.#held.get(connectionId);
      if (!mailbox?.open) {
        this.#candidates.delete(connectionId);
        continue;
      }
      const { actor, idle_ms = now_ms, ended, settling } = mailbox;
      const idle = isIdle(actor);
      if (!idle && ended < LIMITS.mailbox_ended) {
        this.#candidates.delete(connectionId);
        continue;
      }
      if (settling || this.#storing.has(connectionId)) continue; // I1
      if (idle && now_ms - idle_ms < LIMITS.mailbox_idle_ms) continue;
      mailbox.settling = true;
      mailbox.ended = 0;
      this.#candidates.delete(connectionId);
      due.push({ actor, from: idle ? null : lowest(actor.inHand) });
    }
    return due;
  }

  settled(connectionId: string, closed: boolean): void {
    const mailbox = this.#held.get(connectionId);
    if (!mailbox?.settling) return; // it was opened again
    mailbox.settling = false;
    if (closed) {
      mailbox.open = false;
      this.#forget(connectionId, mailbox);
    } else this.#candidates.add(connectionId);
  }

  #forget(connectionId: string, { actor }: HeldMailbox<Actor>): void {
    if (isIdle(actor)) this.#held.delete(connectionId); // I2
  }
}

const isIdle = ({ waiting, running }: Worker) => waiting === 0 && !running;

/** An actor may take what it was handed a moment later: then it has nothing in hand yet. */
function lowest(ids: string[]): string | null {
  let first: string | null = null;
  for (const id of ids) if (first === null || id < first) first = id;
  return first;
}
