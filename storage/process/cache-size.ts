/**
 * Bounds an `LRUCache` to this many entries. With its own `max` it takes the memory of all of them when it is made, a third of a
 * millisecond for a thousand, which each start would pay for caches that stay small; so bounded it grows with what is in it.
 */
export const atMost = (entries: number) => ({ maxSize: entries, sizeCalculation: () => 1 });
