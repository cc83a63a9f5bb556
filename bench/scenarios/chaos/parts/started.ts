/** What has started, to be ended in the opposite order. One part that does not end keeps no other from it. */
export class Started implements AsyncDisposable {
  readonly #ends: (() => Promise<unknown>)[] = [];

  /** Gives the part, which is ended with the others. */
  add<T extends AsyncDisposable>(part: T): T {
    this.onEnd(async () => part[Symbol.asyncDispose]());
    return part;
  }

  onEnd(end: () => Promise<unknown>): void {
    this.#ends.unshift(end);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const end of this.#ends.splice(0)) {
      await end().catch((error) => process.stderr.write(`a part did not end: ${error}\n`));
    }
  }
}
