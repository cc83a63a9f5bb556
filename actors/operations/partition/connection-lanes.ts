interface Turn {
  lane: string;
  /** Being stored, or waiting for the turn before. */
  left: number;
  before: Promise<void> | undefined;
  over: PromiseWithResolvers<void> | undefined;
}

/**
 * Of one connection, one lane stores at a time; the lanes take turns in the order in which they were asked for. So of two statements for a
 * connection, the answer of the first has come before the second begins, and what it stored is in hand before what the second stores.
 */
export class ConnectionLanes {
  /** The last turn of each connection that has one. */
  readonly #last = new Map<string, Turn>();

  /** Stores when it is this lane's turn. Rejects as `store` does; the turn ends all the same. */
  async take<T>(connectionId: string, lane: string, store: () => Promise<T>): Promise<T> {
    const turn = this.#join(connectionId, lane);
    turn.left++;
    try {
      if (turn.before) await turn.before;
      return await store();
    } finally {
      if (--turn.left === 0) this.#end(connectionId, turn);
    }
  }

  #join(connectionId: string, lane: string): Turn {
    const last = this.#last.get(connectionId);
    if (last?.lane === lane) return last;
    if (last) last.over ??= Promise.withResolvers();
    const turn = { lane, left: 0, before: last?.over?.promise, over: undefined };
    this.#last.set(connectionId, turn);
    return turn;
  }

  #end(connectionId: string, turn: Turn): void {
    turn.over?.resolve();
    if (this.#last.get(connectionId) === turn) this.#last.delete(connectionId);
  }
}
