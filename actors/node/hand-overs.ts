/**
 * Which partitions a thread was told to let go, and has not said yet that nothing of them runs.
 *
 * Invariants: I1 a partition is quiet when every order to let it go is answered: the answer of an earlier one is never taken
 * for that of a later one; I2 what a thread that is gone ran is quiet.
 */
export class HandOvers {
  readonly #unanswered = new Map<number, { orders: number; quiet: PromiseWithResolvers<void> }>();

  /** The thread of this partition was told to let it go. */
  ordered(partition: number): void {
    const open = this.#unanswered.get(partition);
    if (open) open.orders++;
    else this.#unanswered.set(partition, { orders: 1, quiet: Promise.withResolvers() });
  }

  /** The thread answered an order. */
  answered(partition: number): void {
    const open = this.#unanswered.get(partition);
    if (open && --open.orders === 0) this.#end(partition); // I1
  }

  /** The thread of these partitions is gone (I2). */
  gone(ofThread: (partition: number) => boolean): void {
    for (const partition of [...this.#unanswered.keys()]) if (ofThread(partition)) this.#end(partition);
  }

  /** Resolves when nothing of this partition runs. */
  async quiet(partition: number): Promise<void> {
    await this.#unanswered.get(partition)?.quiet.promise;
  }

  #end(partition: number): void {
    this.#unanswered.get(partition)?.quiet.resolve();
    this.#unanswered.delete(partition);
  }
}
