import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { ApiError } from './api.js';
import type { Live } from './live.js';

/** What a view shows. The value of before stays while it is loaded anew, and when that fails. */
export interface Loaded<T> {
  value: T | undefined;
  /** Why the last try failed. */
  error: ApiError | null;
  loading: boolean;
  /** Loads it anew. */
  again(): void;
}

/**
 * Loads when it is first shown, when one of `deps` changes, and when `live` tells of the topic, of which what never changes has none.
 *
 * One load at a time, and each one counts: what is asked for meanwhile is one more load behind it, because where loads take longer than
 * changes are apart none would ever be the newest. Other `deps` abort what is under way by its signal, and take nothing of it.
 */
export function useLoaded<T>(
  load: (signal: AbortSignal) => Promise<T>,
  deps: readonly unknown[],
  live: Live,
  topic: string | null,
): Loaded<T> {
  const [shown, show] = useState<Omit<Loaded<T>, 'again'>>({ value: undefined, error: null, loading: true });
  const latest = useRef(load);
  latest.current = load;
  const loads = useRef<Loads | null>(null);
  useEffect(() => {
    const begun = new Loads(async (signal) => {
      show((was) => (was.loading ? was : { ...was, loading: true }));
      const made = await latest.current(signal).then(
        (value) => ({ value, error: null }),
        (error: ApiError) => ({ error }),
      );
      if (!signal.aborted) show((was) => ({ ...was, ...made, loading: false }));
    });
    loads.current = begun;
    show((was) => (was.error ? { ...was, error: null } : was)); // it is about what was asked for before
    begun.want();
    return () => begun.end();
  }, deps);
  const again = useCallback(() => loads.current?.want(), []);
  useEffect(() => (topic === null ? undefined : live.on(topic, again)), [live, topic]);
  return { ...shown, again };
}

/** Runs one load at a time. */
class Loads {
  readonly #ended = new AbortController();
  #running = false;
  #wanted = false;

  /** `load` never throws. */
  constructor(readonly load: (signal: AbortSignal) => Promise<void>) {}

  want(): void {
    this.#wanted = true;
    if (!this.#running) void this.#run();
  }

  end(): void {
    this.#ended.abort();
  }

  async #run(): Promise<void> {
    this.#running = true;
    while (this.#wanted && !this.#ended.signal.aborted) {
      this.#wanted = false;
      await this.load(this.#ended.signal);
    }
    this.#running = false;
  }
}
