/** Whether the edge is draining; `begun` resolves when it is. */
export interface Drain {
  readonly draining: boolean;
  readonly begun: Promise<void>;
}

/** The edge's own end of it. */
export interface DrainSwitch extends Drain {
  begin(): void;
}

export function drainSwitch(): DrainSwitch {
  const { promise, resolve } = Promise.withResolvers<void>();
  let draining = false;
  return {
    get draining() {
      return draining;
    },
    begun: promise,
    begin() {
      draining = true;
      resolve();
    },
  };
}
