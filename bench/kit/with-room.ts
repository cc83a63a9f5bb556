import { eventually } from './eventually.js';

/** Longer than an answer that waits for its operation. */
const ROOM_ms = 170_000;

/**
 * The answer of a request that is sent again while the service has no room for it (503 `overloaded`, HTTP-13), as its customers do:
 * nothing of a refused one was done. `send` sends it anew each time. `codes`: of the 503 after which it is sent again.
 */
export function withRoom<A extends { status: number; body: unknown }>(
  send: () => Promise<A>,
  codes: readonly string[] = ['overloaded'],
): Promise<A> {
  const hadRoom = ({ status, body }: A) => status !== 503 || !codes.includes((body as { code: string }).code);
  return eventually('the service has room', send, hadRoom, { ms: ROOM_ms });
}
