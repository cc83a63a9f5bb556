import { LIMITS } from '../limits.js';

/**
 * Whether this thread is behind with its requests: many with a key are under way, and what is due runs late. Then a request is refused
 * before anything is done for it: a refusal costs a small part of what an answer does, so that what was taken in goes on.
 */
export interface RequestLoad {
  readonly behind: boolean;
  begun(): void;
  ended(): void;
  close(): void;
}

/**
 * Many requests alone are no sign: they may wait for slow clients. Those that wait for their operations do not count meanwhile. A late thread alone is none
 * either: it may have been the machine's other work.
 */
export function requestLoad(onSample: (late_ms: number, elapsed_ms: number) => void = () => {}): RequestLoad {
  let underWay = 0;
  let late_ms = 0;
  let dueAt = performance.now() + LIMITS.lateness_sample_ms;
  // Timers run before sockets are read: what is read after a long turn sees how long it was.
  const timer = setInterval(() => {
    const now = performance.now();
    late_ms = now - dueAt;
    onSample(late_ms, LIMITS.lateness_sample_ms + late_ms);
    dueAt = now + LIMITS.lateness_sample_ms;
  }, LIMITS.lateness_sample_ms).unref();
  return {
    get behind() {
      return underWay > LIMITS.busy_requests && late_ms > LIMITS.late_ms;
    },
    begun: () => {
      underWay++;
    },
    ended: () => {
      underWay--;
    },
    close: () => clearInterval(timer),
  };
}
