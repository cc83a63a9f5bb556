import { HttpError } from '../../../storage/model/errors.js';
import { LIMITS } from '../limits.js';

/** A request at work. */
export interface Turn {
  /** Awaits what costs this node nothing: meanwhile the request is not at work. */
  parked<T>(wait: Promise<T>): Promise<T>;
  /** Its work is over. Called once. */
  end(): void;
}

/** What a request is, as far as it says how much work it is. */
export interface RequestKind {
  /** Of its route. There are few, because prices are kept by it. */
  name: string;
  /** Of its body. */
  bytes: number;
}

/**
 * Shares this node's time between workspaces (HTTP-13). A workspace that asks for more than its share, while others are at work, has at
 * most `#cap` requests at work on average: `LIMITS.pace_most`, and fewer while the node runs late and one that asks for less is there.
 * Requests beyond it wait, first in, first out, and are refused with 503 `overloaded` after a while.
 *
 * What is asked for is counted in prices, what such a request takes when nothing holds it up: while the node is late all take longer,
 * and who asks for little would seem to ask for much. Use is counted in time at work, whatever is short: the processor or the
 * database.
 *
 * I1. A workspace that asks for less than an equal share is not held up, whatever the others do; nor is a workspace alone.
 * I2. A turn is paid for with what a request of its workspace takes as a rule, and settled by what it took.
 */
export class RequestScheduler {
  readonly #shares = new Map<string, WorkspaceShare>();
  readonly #costs = new CostModel();
  /** At most `pace_most`, or 1 and a part of the time. */
  #cap: number = LIMITS.pace_most;
  #active = 0;
  #late_ms = 0;
  /** The monotonic clock. */
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** How late this node is, on average over about `LIMITS.pace_step_ms`. */
  get late_ms(): number {
    return this.#late_ms;
  }

  get #isLate(): boolean {
    return this.#late_ms > LIMITS.paced_late_ms;
  }

  get isAtWork(): boolean {
    return this.#active > 0;
  }

  /** Whether several workspaces are at work. */
  get isContested(): boolean {
    return this.#active > 1;
  }

  /**
   * Resolves when the workspace's next request, one of this kind, may be worked on; rejects with 503 when that takes longer than
   * `wait_ms`.
   */
  async turn(workspaceId: string, kind: RequestKind, wait_ms: number = LIMITS.paced_wait_ms): Promise<Turn> {
    const share = this.#share(workspaceId);
    share.asks(this.#costs.of(kind), 1 / Math.max(1, this.#active));
    const begin = () => share.begin(this.#isHeldUp(share), (took_ms) => this.#costs.note(kind, took_ms, this.#isLate));
    if (share.waiting.size === 0 && this.#mayBegin(share)) return begin();
    const turn = Promise.withResolvers<Turn>();
    const grant = () => turn.resolve(begin());
    share.waiting.add(grant);
    const late = setTimeout(() => {
      share.waiting.delete(grant);
      turn.reject(new HttpError('overloaded', 'the workspace asks for more than its share, and others are at work'));
    }, wait_ms);
    try {
      return await turn.promise;
    } finally {
      clearTimeout(late);
    }
  }

  /** Is told again and again how late this thread is, and how long ago it was told before. */
  sample(late_ms: number, elapsed_ms: number): void {
    this.#late_ms += (late_ms - this.#late_ms) * Math.min(1, elapsed_ms / LIMITS.pace_step_ms);
    const active: WorkspaceShare[] = [];
    for (const [workspaceId, share] of this.#shares) {
      share.sample(elapsed_ms);
      if (share.isActive) active.push(share);
      else if (share.isGone) this.#shares.delete(workspaceId);
    }
    this.#active = active.length;
    for (const share of active) share.judge(1 / active.length);
    this.#steer(active, elapsed_ms / LIMITS.pace_step_ms);
    for (const share of this.#shares.values()) this.#serve(share, elapsed_ms);
  }

  /** Down from what the busiest has now while the node is late, up again slowly. */
  #steer(active: readonly WorkspaceShare[], steps: number): void {
    let light = 0;
    let busiest = 0;
    for (const share of active) {
      if (share.isHeavy) busiest = Math.max(busiest, share.atWork);
      else light = Math.max(light, share.asked);
    }
    const falls = light > 0 && this.#isLate;
    const next = falls
      ? Math.min(this.#cap, busiest) * LIMITS.pace_fall ** steps
      : this.#cap * LIMITS.pace_rise ** steps;
    this.#cap = Math.min(LIMITS.pace_most, Math.max(LIMITS.pace_least, LIMITS.pace_light_room * light, next));
  }

  #serve(share: WorkspaceShare, elapsed_ms: number): void {
    if (this.#isHeldUp(share)) share.earn(this.#cap, elapsed_ms);
    else share.forgive();
    for (const grant of share.waiting) {
      if (!this.#mayBegin(share)) break;
      share.waiting.delete(grant);
      grant();
    }
  }

  #mayBegin(share: WorkspaceShare): boolean {
    if (!this.#hasNeighbour(share)) return true;
    if (!share.isHeavy) return share.now < LIMITS.pace_most; // I1
    return share.now < Math.max(1, this.#cap) && share.left_ms > 0;
  }

  #isHeldUp(share: WorkspaceShare): boolean {
    return share.isHeavy && this.#hasNeighbour(share);
  }

  #hasNeighbour(share: WorkspaceShare): boolean {
    return this.#active > (share.isActive ? 1 : 0);
  }

  #share(workspaceId: string): WorkspaceShare {
    let share = this.#shares.get(workspaceId);
    if (!share) {
      share = new WorkspaceShare(this.#now);
      this.#shares.set(workspaceId, share);
    }
    return share;
  }
}

/** What a request of each kind takes while it is held up by nothing: rather what the quicker ones took. */
class CostModel {
  readonly #costs = new Map<string, number>();

  /** In milliseconds; of a kind that nobody knows yet, what its size lets expect. */
  of(kind: RequestKind): number {
    return this.#costs.get(keyOf(kind)) ?? 1 + kind.bytes / LIMITS.unknown_price_bytes_a_ms;
  }

  /** A request took so long. The work of others makes a request take longer, never shorter. */
  note(kind: RequestKind, took_ms: number, isLate: boolean): void {
    const key = keyOf(kind);
    const usual_ms = this.#costs.get(key);
    if (usual_ms === undefined) this.#costs.set(key, took_ms);
    else if (took_ms < usual_ms) this.#costs.set(key, usual_ms + (took_ms - usual_ms) / LIMITS.price_falls_of);
    else if (!isLate) this.#costs.set(key, usual_ms + (took_ms - usual_ms) / LIMITS.price_rises_of);
  }
}

/** Requests to one route cost about the same with bodies of one size, by powers of two. */
const keyOf = ({ name, bytes }: RequestKind): string => `${name} ${Math.clz32(bytes)}`;

/** What one workspace has of this node. */
class WorkspaceShare {
  readonly waiting = new Set<() => void>();
  /** Requests at work: now, and on average over about `LIMITS.pace_memory_ms`. */
  now = 0;
  atWork = 0;
  /** The prices of what it asked for, in milliseconds a millisecond, on average over the same time. */
  asked = 0;
  /** It was at work, or waited to be, when all were last looked at. */
  isActive = false;
  /** It asks for more than its share. */
  isHeavy = false;
  /** Time at work that it may still begin while it is held up; below 0 it took more than it had. */
  left_ms = 0;
  /** How long a request of it is at work as a rule. */
  #usual_ms = 1;
  readonly #now: () => number;
  #since: number;
  #busy_ms = 0;
  #asked_ms = 0;

  constructor(now: () => number) {
    this.#now = now;
    this.#since = now();
  }

  get isGone(): boolean {
    return this.now === 0 && this.waiting.size === 0 && this.atWork < LIMITS.pace_gone;
  }

  /** A request came. A burst counts at once. */
  asks(price_ms: number, equal: number): void {
    this.#asked_ms += price_ms;
    this.isHeavy ||= this.asked + this.#asked_ms / LIMITS.pace_memory_ms > equal;
  }

  /** Whose requests wait asks for more than comes in. */
  judge(equal: number): void {
    this.isHeavy = this.asked > equal || (this.isHeavy && this.waiting.size > 0);
  }

  /** A request begins; `paid` from what is left (I2). */
  begin(paid: boolean, ended: (took_ms: number) => void): Turn {
    const paid_ms = paid ? this.#usual_ms : 0;
    let took_ms = 0;
    let since = this.#now();
    const leave = () => {
      took_ms += this.#now() - since;
      this.#change(-1);
    };
    this.left_ms -= paid_ms;
    this.#change(1);
    return {
      parked: async (wait) => {
        leave();
        try {
          return await wait;
        } finally {
          since = this.#now();
          this.#change(1);
        }
      },
      end: () => {
        leave();
        this.#usual_ms += (took_ms - this.#usual_ms) / 16;
        if (paid) this.left_ms += paid_ms - took_ms;
        ended(took_ms);
      },
    };
  }

  /** What it may have in that time, kept for a short while; a debt is no longer than the memory. */
  earn(cap: number, elapsed_ms: number): void {
    const kept_ms = Math.min(this.left_ms + cap * elapsed_ms, cap * LIMITS.pace_step_ms + this.#usual_ms);
    this.left_ms = Math.max(kept_ms, -cap * LIMITS.pace_memory_ms);
  }

  forgive(): void {
    this.left_ms = 0;
  }

  sample(elapsed_ms: number): void {
    this.#change(0);
    const weight = Math.min(1, elapsed_ms / LIMITS.pace_memory_ms);
    this.atWork += (this.#busy_ms / elapsed_ms - this.atWork) * weight;
    this.asked += (this.#asked_ms / elapsed_ms - this.asked) * weight;
    this.isActive = this.atWork >= LIMITS.pace_active || this.waiting.size > 0;
    this.#busy_ms = 0;
    this.#asked_ms = 0;
  }

  #change(by: number): void {
    const now = this.#now();
    this.#busy_ms += this.now * (now - this.#since);
    this.#since = now;
    this.now += by;
  }
}
