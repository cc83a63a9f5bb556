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

/** Loads when it is first shown, when one of `deps` changes, and when `live` tells of the topic, of which what never changes has none. One load at a time; the last one counts. */
export function useLoaded<T>(
  load: () => Promise<T>,
  deps: readonly unknown[],
  live: Live,
  topic: string | null,
): Loaded<T> {
  const [shown, show] = useState<Omit<Loaded<T>, 'again'>>({ value: undefined, error: null, loading: true });
  const latest = useRef(load);
  latest.current = load;
  const turn = useRef(0);
  const again = useCallback(() => {
    const mine = ++turn.current;
    const settle = (made: Partial<Loaded<T>>) => {
      if (mine === turn.current) show((was) => ({ ...was, ...made, loading: false }));
    };
    show((was) => (was.loading ? was : { ...was, loading: true }));
    latest.current().then(
      (value) => settle({ value, error: null }),
      (error) => settle({ error }),
    );
  }, []);
  useEffect(() => {
    again();
    return () => void turn.current++;
  }, deps);
  useEffect(() => (topic === null ? undefined : live.on(topic, again)), [live, topic]);
  return { ...shown, again };
}
