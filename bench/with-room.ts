import { eventually } from './eventually.js';

/** Longer than an answer that waits for its operation. */
const ROOM_ms = 170_000;

/**
 * The answer of a request that is sent again while the service has no room for it (503 `overloaded`, HTTP-13), as its customers do:
 * nothing of a refused one was done. `send` sends it anew each time.
 */
export function withRoom<A extends { status: number; body: unknown }>(send: () => Promise<A>): Promise<A> {
  return eventually('the service has room', send, hadRoom, { ms: ROOM_ms });
}

function hadRoom({ status, body }: { status: number; body: unknown }): boolean {
  return status !== 503 || (body as { code?: unknown }).code !== 'overloaded';
}
