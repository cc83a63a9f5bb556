import { settle } from '../../../storage/deliveries/workspace-subscriptions.js';
import { isPassing } from '../../http/answer.js';
import { LIMITS } from '../../http/limits.js';
import type { Call } from '../../http/route.js';

/**
 * Lets the connections of the workspace follow a change of its subscription for as long as a request may take (EVT-23); what is left
 * then, or cannot be stored just now, follows in the background: the change itself is committed, and refuses nothing any more.
 */
export async function settledInTime(
  { db, system }: Pick<Call<unknown, unknown, unknown>, 'db' | 'system'>,
  id: string,
): Promise<void> {
  const until = performance.now() + LIMITS.settle_ms;
  const woken = (connections: string[]) => {
    for (const connectionId of connections) system.hint({ type: 'deliveries', connectionId });
  };
  try {
    await settle(db, id, () => performance.now() > until, woken);
  } catch (error) {
    if (!isPassing(error)) throw error;
  }
}
