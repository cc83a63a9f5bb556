import { LinkedQueue } from './linked-queue.js';

/**
 * A queue that serves keys (workspaces, API keys) in a round: `take` returns one item of the first key and puts that key behind the others. Items
 * of one key leave first in, first out. A key with ten thousand items delays another key's first item by one, not by ten thousand.
 */
export class FairQueue<T extends object> {
  readonly #keys = new Map<string, KeyQueue<T>>();
  /** The keys that have items, in the order of service. */
  readonly #round = new LinkedQueue<KeyQueue<T>>();
  #size = 0;

  /** Items that wait, of all keys. */
  get size(): number {
    return this.#size;
  }

  /** Puts the item behind those of its key, unless it waits already. */
  add(key: string, item: T): void {
    const queue = this.#keys.get(key) ?? { key, items: new LinkedQueue<T>() };
    const before = queue.items.size;
    queue.items.add(item);
    this.#size += queue.items.size - before;
    this.#keys.set(key, queue);
    this.#round.add(queue);
  }

  /** False when the item does not wait under this key. */
  delete(key: string, item: T): boolean {
    const queue = this.#keys.get(key);
    if (!queue?.items.delete(item)) return false;
    this.#size--;
    this.#forgetEmpty(queue);
    return true;
  }

  /** Removes and returns the first item of the first key that `may` be served; undefined when there is none. */
  take(may?: (key: string) => boolean): T | undefined {
    if (this.#size === 0) return undefined; // on the path of each statement: no iterator for nobody
    const queue = this.#next(may);
    const item = queue?.items.take();
    if (!queue || item === undefined) return undefined;
    this.#size--;
    this.#round.delete(queue);
    this.#round.add(queue); // behind the others
    this.#forgetEmpty(queue);
    return item;
  }

  #next(may: ((key: string) => boolean) | undefined): KeyQueue<T> | undefined {
    for (const queue of this.#round) if (!may || may(queue.key)) return queue;
    return undefined;
  }

  #forgetEmpty(queue: KeyQueue<T>): void {
    if (queue.items.size > 0) return;
    this.#round.delete(queue);
    this.#keys.delete(queue.key);
  }
}

interface KeyQueue<T extends object> {
  readonly key: string;
  readonly items: LinkedQueue<T>;
}
