interface Place<T> {
  readonly item: T;
  before: Place<T> | undefined;
  behind: Place<T> | undefined;
}

/**
 * A first-in-first-out queue that holds each item once and removes any of them in constant time. A `Set` that loses items at its head and gains
 * some at its end keeps thousands of gaps until it is rehashed, and each look at its head walks over them.
 */
export class LinkedQueue<T extends object> {
  readonly #places = new Map<T, Place<T>>();
  #first: Place<T> | undefined;
  #last: Place<T> | undefined;

  get size(): number {
    return this.#places.size;
  }

  /** Puts the item behind the others, unless it waits already. */
  add(item: T): void {
    if (this.#places.has(item)) return;
    const place = { item, before: this.#last, behind: undefined };
    if (this.#last) this.#last.behind = place;
    else this.#first = place;
    this.#last = place;
    this.#places.set(item, place);
  }

  /** False when the item does not wait. */
  delete(item: T): boolean {
    const place = this.#places.get(item);
    if (!place) return false;
    const { before, behind } = place;
    if (before) before.behind = behind;
    else this.#first = behind;
    if (behind) behind.before = before;
    else this.#last = before;
    return this.#places.delete(item);
  }

  /** Removes and returns the first item; undefined when none waits. */
  take(): T | undefined {
    const item = this.#first?.item;
    if (item !== undefined) this.delete(item);
    return item;
  }

  /** The items from first to last. The queue must not change before the iteration ends. */
  *[Symbol.iterator](): Iterator<T> {
    for (let place = this.#first; place; place = place.behind) yield place.item;
  }
}
