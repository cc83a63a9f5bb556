/** Whether the edge is draining. */
export interface Drain {
  readonly draining: boolean;
  /**
   * Calls `begun` once the edge drains, at once if it does already; returns what takes the call back. No promise: whatever waited on
   * one that is settled at the end of the process only would be kept until then.
   */
  onBegin(begun: () => void): () => void;
}

/** The edge's own end of it. */
export interface DrainSwitch extends Drain {
  begin(): void;
}

export function drainSwitch(): DrainSwitch {
  const waiting = new Set<() => void>();
  let draining = false;
  return {
    get draining() {
      return draining;
    },
    onBegin(begun) {
      // One of its own: the same function may be given twice.
      const call = () => begun();
      if (draining) call();
      else waiting.add(call);
      return () => void waiting.delete(call);
    },
    begin() {
      draining = true;
      for (const begun of [...waiting]) begun();
      waiting.clear();
    },
  };
}
