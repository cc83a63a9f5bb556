import type { SubscriptionDestination } from './subscription-actor.js';
import { TurnQueue } from './turn-queue.js';

/**
 * Destinations that want a slot, in turns: workspaces take turns, and so do the destinations of each. A workspace with ten thousand of
 * them is one among the others.
 */
export class DestinationTurns {
  /** Of each workspace, its destinations in the order of their turns; none is empty. */
  readonly #queues = new Map<string, TurnQueue<SubscriptionDestination>>();

  /** Queues the destination behind those of its workspace, unless it waits already. */
  add(destination: SubscriptionDestination): void {
    const queue = this.#queues.get(destination.workspaceId) ?? new TurnQueue();
    this.#queues.set(destination.workspaceId, queue);
    queue.add(destination);
  }

  delete(destination: SubscriptionDestination): void {
    const queue = this.#queues.get(destination.workspaceId);
    if (queue?.delete(destination) && queue.size === 0) this.#queues.delete(destination.workspaceId);
  }

  /** Takes the next destination of the next workspace that `may`. Undefined when there is none. */
  take(may: (workspaceId: string) => boolean): SubscriptionDestination | undefined {
    for (const [workspaceId, queue] of this.#queues) {
      if (!may(workspaceId)) continue;
      const destination = queue.take();
      this.#queues.delete(workspaceId);
      if (queue.size > 0) this.#queues.set(workspaceId, queue); // behind the others
      return destination;
    }
    return undefined;
  }
}
