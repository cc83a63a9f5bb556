import type { SubscriptionActor } from './subscription-actor.js';

/**
 * Subscriptions that wait for a slot, in turns: workspaces take turns, and so do the subscriptions of each. A workspace with ten thousand of
 * them is one among the others.
 */
export class WorkspaceTurns {
  /** Of each workspace, its subscriptions in the order of their turns; none is empty. */
  readonly #queues = new Map<string, Set<SubscriptionActor>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Queues the subscription behind those of its workspace, unless it waits already. */
  add(actor: SubscriptionActor): void {
    const queue = this.#queues.get(actor.workspaceId) ?? new Set();
    this.#queues.set(actor.workspaceId, queue);
    this.#size -= queue.size;
    this.#size += queue.add(actor).size;
  }

  delete(actor: SubscriptionActor): void {
    const queue = this.#queues.get(actor.workspaceId);
    if (!queue?.delete(actor)) return;
    this.#size--;
    if (queue.size === 0) this.#queues.delete(actor.workspaceId);
  }

  /** Takes the next subscription of the next workspace that `may`. Undefined when there is none. */
  take(may: (workspaceId: string) => boolean): SubscriptionActor | undefined {
    for (const [workspaceId, queue] of this.#queues) {
      if (!may(workspaceId)) continue;
      const [actor] = queue;
      if (!actor) continue;
      this.delete(actor);
      if (queue.size > 0) {
        // Behind the others.
        this.#queues.delete(workspaceId);
        this.#queues.set(workspaceId, queue);
      }
      return actor;
    }
    return undefined;
  }
}
