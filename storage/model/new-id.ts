import { randomFillSync, randomInt } from 'node:crypto';
import { v7 } from 'uuid';
import { timeOfId } from './id-time.js';

/** Random bytes of an id, and ids whose random bytes are drawn at once: each draw is a call into the system's generator. */
const ID_bytes = 16;
const BLOCK_ids = 256;
const MAX_SEQUENCE = 2 ** 32 - 1;

const block = new Uint8Array(ID_bytes * BLOCK_ids);
let drawn = BLOCK_ids;
let msecs = 0;
let seq = 0;

const MAX_FIRST_SEQUENCE = 2 ** 31;

/** `count` new ids in ascending order. They are above `above`, by a millisecond that has not come yet where it has to be. */
export function newIdsAbove(above: string, count: number): string[] {
  const ids = Array.from({ length: count }, newId);
  if (ids.every((id) => id > above)) return ids;
  const msecs = timeOfId(above) + 1;
  const first = randomInt(MAX_FIRST_SEQUENCE);
  return ids.map((_, i) => v7({ msecs, seq: first + i }));
}

/**
 * A new id, a UUIDv7: above every other one that this thread has made, also of the same millisecond, and whatever its clock does. Its random
 * bytes are used once.
 */
export function newId(): string {
  if (drawn === BLOCK_ids) {
    randomFillSync(block);
    drawn = 0;
  }
  const random = block.subarray(drawn * ID_bytes, ++drawn * ID_bytes);
  const now = Date.now();
  if (now > msecs) {
    msecs = now;
    seq = new DataView(random.buffer, random.byteOffset).getUint32(6) >>> 1; // the lower half: there is room to count on
  } else if (seq === MAX_SEQUENCE) {
    msecs++;
    seq = 0;
  } else seq++;
  return v7({ random, msecs, seq });
}
