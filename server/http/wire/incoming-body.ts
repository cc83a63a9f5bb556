import { LIMITS } from '../limits.js';
import type { BodyMemory, BodyShare } from './body-memory.js';

/** Why there is no body: the code that its request is answered with. */
export type RefusedBody = 'body_too_large' | 'overloaded';

const NOTHING = Buffer.alloc(0);

/**
 * The body of one request while it comes in. Nobody has asked for it at first: a stranger may have sent it.
 *
 * I1. Held bytes are counted in the edge's memory before they are copied, both copies where there are two.
 * I2. Past its limit, or without room, nothing of it is held any more: what still comes is counted and dropped.
 * I3. Until it is wanted, it is to be paused once more than `LIMITS.small_body_bytes` came.
 */
export class IncomingBody {
  readonly #memory: BodyMemory;
  readonly #limit_bytes: number;
  /** Null: the sender did not say. */
  readonly #declared_bytes: number | null;
  /** Its first `#received_bytes` are the body so far. One buffer that grows: a body in chunks of a byte must cost no more. */
  #buffer = NOTHING;
  #share: BodyShare = 'small';
  #held_bytes = 0;
  #received_bytes = 0;
  #wanted = false;
  /** The workspace that may send it, once it is wanted. */
  #sender: string | undefined;
  #refused: RefusedBody | 'unwanted' | undefined;

  constructor(limit_bytes: number, declared: string, memory: BodyMemory) {
    this.#limit_bytes = limit_bytes;
    this.#declared_bytes = declared === '' ? null : Number(declared);
    this.#memory = memory;
    if ((this.#declared_bytes ?? 0) > limit_bytes) this.#refuse('body_too_large');
  }

  /** True while no more of it should be read (I3). */
  get full(): boolean {
    return !this.#wanted && !this.#refused && this.#received_bytes > LIMITS.small_body_bytes;
  }

  /** True when so much more than its limit came that the rest is not worth reading. */
  get flooded(): boolean {
    return this.#received_bytes > this.#limit_bytes + LIMITS.dropped_body_bytes;
  }

  /** Takes what came. The chunk may change afterwards. */
  take(chunk: ArrayBuffer): void {
    const from = this.#received_bytes;
    this.#received_bytes += chunk.byteLength;
    if (this.#refused || chunk.byteLength === 0) return;
    if (this.#received_bytes > this.#limit_bytes) this.#refuse('body_too_large');
    else if (this.#buffer.length >= this.#received_bytes || this.#grow(this.#received_bytes)) {
      this.#buffer.set(new Uint8Array(chunk), from);
    }
  }

  /** Its request may send it, for this workspace: from now on all of it is taken, and where its size is known there is room for it. */
  want(ended: boolean, sender?: string): void {
    if (this.#wanted || this.#refused) return;
    this.#wanted = true;
    this.#sender = sender;
    const size = this.#declared_bytes;
    if (!ended && size !== null && size > this.#buffer.length) this.#grow(size);
    else if (this.#share === 'unchecked') this.#hold(this.#held_bytes);
  }

  /** Nobody wants it: what still comes is dropped. */
  drop(): void {
    if (!this.#refused) this.#refuse('unwanted');
  }

  /** All of it, once it has ended. */
  bytes(): Buffer | RefusedBody {
    if (this.#refused) return this.#refused === 'unwanted' ? NOTHING : this.#refused;
    return this.#buffer.subarray(0, this.#received_bytes);
  }

  /** What was held of it is in nobody's hands any more. */
  release(): void {
    this.#memory.give(this.#share, this.#held_bytes, this.#sender);
    this.#held_bytes = 0;
    this.#buffer = NOTHING;
  }

  /** Makes room for so many bytes, or for twice what there was. False: there is none. */
  #grow(bytes: number): boolean {
    const before = this.#buffer;
    const size = Math.max(bytes, Math.min(before.length * 2, this.#limit_bytes));
    if (!this.#hold(before.length + size)) return false; // I1
    // A buffer of its own takes no memory before something is written into it.
    this.#buffer = size > LIMITS.small_body_bytes ? Buffer.allocUnsafeSlow(size) : Buffer.allocUnsafe(size);
    before.copy(this.#buffer);
    return before.length === 0 || this.#hold(size);
  }

  /** Counts so many bytes in all as held. False: there is no room, and the body is refused. */
  #hold(bytes: number): boolean {
    const share = bytes <= LIMITS.small_body_bytes ? 'small' : this.#wanted ? 'large' : 'unchecked';
    this.#memory.give(this.#share, this.#held_bytes, this.#sender);
    this.#held_bytes = 0;
    this.#share = share;
    if (!this.#memory.take(share, bytes, this.#sender)) this.#refuse('overloaded');
    else this.#held_bytes = bytes;
    return !this.#refused;
  }

  #refuse(why: RefusedBody | 'unwanted'): void {
    this.#refused = why; // I2
    this.release();
  }
}
