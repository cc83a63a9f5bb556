import { HttpError } from '../../storage/model/errors.js';
import { LIMITS } from './limits.js';

/** A request at work. */
export interface Turn {
  /** Awaits what costs this node nothing: meanwhile the request is not at work. */
  parked<T>(wait: Promise<T>): Promise<T>;
  /** Its work is over. Called once. */
  end(): void;
}

/**
 * Shares this node's time between workspaces (HTTP-13). While others are at work, a workspace has at most `#cap` requests at work on
 * average: `LIMITS.pace_most`, and fewer while the node runs late and one that asks for little is there. What it asks for beyond waits, first in, first out, and is refused
 * with 503 `overloaded` after `LIMITS.paced_wait_ms`. A workspace alone never waits.
 *
 * What is counted is the time that requests are at work, whatever they are short of: the processor or the database.
 *
 * I1. Who never had to wait is not held up by those who did: the cap stays above twice what it has at work.
 * I2. A turn is paid for with what a request of its workspace takes as a rule, and settled by what it took.
 */
export class RequestPace {
  readonly #parts = new Map<string, Part>();
  /** At most `pace_most`, or 1 and a part of the time. */
  #cap: number = LIMITS.pace_most;
  #active = 0;
  #late_ms = 0;

  get isAtWork(): boolean {
    return this.#active > 0;
  }

  /** Whether several workspaces are at work. */
  get isContested(): boolean {
    return this.#active > 1;
  }

  /** Resolves when the workspace's next request may be worked on; rejects with 503 when that takes too long. */
  async turn(workspaceId: string): Promise<Turn> {
    const part = this.#part(workspaceId);
    if (part.waiting.size === 0 && this.#mayBegin(part)) return part.begin(this.#isHeldUp(part));
    const turn = Promise.withResolvers<Turn>();
    const grant = (paid: boolean) => turn.resolve(part.begin(paid));
    part.wait(grant);
    const late = setTimeout(() => {
      part.waiting.delete(grant);
      turn.reject(new HttpError('overloaded', 'the workspace asks for more than its part, and others are at work'));
    }, LIMITS.paced_wait_ms);
    try {
      return await turn.promise;
    } finally {
      clearTimeout(late);
    }
  }

  /** Is told again and again how late this thread is, and how long ago it was told before. */
  sample(late_ms: number, elapsed_ms: number): void {
    this.#late_ms += (late_ms - this.#late_ms) * Math.min(1, elapsed_ms / LIMITS.pace_step_ms);
    let most = 0;
    let light = 0;
    this.#active = 0;
    for (const [workspaceId, part] of this.#parts) {
      part.sample(elapsed_ms);
      if (part.isForgotten) this.#parts.delete(workspaceId);
      if (!part.isActive) continue;
      this.#active++;
      most = Math.max(most, part.atWork);
      if (part.isLight) light = Math.max(light, part.atWork);
    }
    this.#steer(light, most, elapsed_ms / LIMITS.pace_step_ms);
    for (const part of this.#parts.values()) this.#serve(part, elapsed_ms);
  }

  /** Down from what the busiest has now while the node is late, up again slowly. */
  #steer(light: number, most: number, steps: number): void {
    const falls = light > 0 && this.#late_ms > LIMITS.paced_late_ms;
    const next = falls ? Math.min(this.#cap, most) * LIMITS.pace_fall ** steps : this.#cap * LIMITS.pace_rise ** steps;
    this.#cap = Math.min(LIMITS.pace_most, Math.max(LIMITS.pace_least, 2 * light, next)); // I1
  }

  #serve(part: Part, elapsed_ms: number): void {
    if (this.#isHeldUp(part)) part.earn(this.#cap, elapsed_ms);
    else part.forgive();
    for (const grant of part.waiting) {
      if (!this.#mayBegin(part)) break;
      part.waiting.delete(grant);
      grant(this.#isHeldUp(part));
    }
  }

  #mayBegin(part: Part): boolean {
    if (!this.#hasNeighbour(part)) return true;
    if (!this.#isHeldUp(part)) return part.now < LIMITS.pace_most; // I1
    return part.now < Math.max(1, this.#cap) && part.left_ms > 0;
  }

  #isHeldUp(part: Part): boolean {
    return this.#hasNeighbour(part) && (part.waiting.size > 0 || part.atWork > this.#cap / 2);
  }

  #hasNeighbour(part: Part): boolean {
    return this.#active > (part.isActive ? 1 : 0);
  }

  #part(workspaceId: string): Part {
    let part = this.#parts.get(workspaceId);
    if (!part) {
      part = new Part();
      this.#parts.set(workspaceId, part);
    }
    return part;
  }
}

/** What one workspace has of this node. */
class Part {
  readonly waiting = new Set<(paid: boolean) => void>();
  /** Requests at work: now, and on average over about `LIMITS.pace_memory_ms`. */
  now = 0;
  atWork = 0;
  /** Time at work that it may still begin while it is held up; below 0 it took more than it had. */
  left_ms = 0;
  /** How long a request of it is at work as a rule. */
  #usual_ms = 1;
  #since = performance.now();
  #busy_ms = 0;
  #waitedAt = Number.NEGATIVE_INFINITY;

  get isActive(): boolean {
    return this.atWork >= LIMITS.pace_active;
  }

  /** No request of it had to wait lately. */
  get isLight(): boolean {
    return performance.now() - this.#waitedAt > LIMITS.pace_held_ms;
  }

  get isForgotten(): boolean {
    return this.now === 0 && !this.isActive && this.isLight;
  }

  wait(grant: (paid: boolean) => void): void {
    this.waiting.add(grant);
    this.#waitedAt = performance.now();
  }

  /** A request begins; `paid` from what is left (I2). */
  begin(paid: boolean): Turn {
    const paid_ms = paid ? this.#usual_ms : 0;
    let took_ms = 0;
    let since = performance.now();
    const leave = () => {
      took_ms += performance.now() - since;
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
          since = performance.now();
          this.#change(1);
        }
      },
      end: () => {
        leave();
        this.#usual_ms += (took_ms - this.#usual_ms) / 16;
        if (paid) this.left_ms += paid_ms - took_ms;
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
    this.atWork += (this.#busy_ms / elapsed_ms - this.atWork) * Math.min(1, elapsed_ms / LIMITS.pace_memory_ms);
    this.#busy_ms = 0;
  }

  #change(by: number): void {
    const now = performance.now();
    this.#busy_ms += this.now * (now - this.#since);
    this.#since = now;
    this.now += by;
  }
}
