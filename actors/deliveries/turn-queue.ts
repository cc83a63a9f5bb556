interface Place<T> {
  readonly item: T;
  before: Place<T> | undefined;
  behind: Place<T> | undefined;
}

/**
 * What waits for its turn, each once, first come, first served. Unlike a `Set` it finds its first in no time, however many wait: a set that is
 * taken from at its head and added to at its end keeps the gaps of what was taken, thousands of them, until it makes itself anew, and each look
 * at its head walks over them.
 */
export class TurnQueue<T extends object> {
  readonly #places = new Map<T, Place<T>>();
  #first: Place<T> | undefined;
  #last: Place<T> | undefined;

  get size(): number {
    return this.#places.size;
  }

  /** Puts it behind the others, unless it waits already. */
  add(item: T): void {
    if (this.#places.has(item)) return;
    const place = { item, before: this.#last, behind: undefined };
    if (this.#last) this.#last.behind = place;
    else this.#first = place;
    this.#last = place;
    this.#places.set(item, place);
  }

  /** False when it does not wait. */
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

  /** Takes the first out; undefined where none waits. */
  take(): T | undefined {
    const item = this.#first?.item;
    if (item !== undefined) this.delete(item);
    return item;
  }
}
