import type { Counted, Tallied } from './tally.js';

/** What pages look at. */
export const TOPICS = ['connections', 'operations', 'subscriptions', 'overview', 'attention'] as const;
export type Topic = (typeof TOPICS)[number];

/** What shows that something was counted. */
const SHOWN: Readonly<Record<Counted, readonly Topic[]>> = {
  accepted: ['operations', 'overview'],
  succeeded: ['operations', 'overview'],
  failed: ['operations', 'overview'],
  canceled: ['operations', 'overview', 'attention'],
  unknown: ['operations', 'overview', 'attention'],
  waits: ['operations', 'attention'],
  moves: ['operations'],
  resumes: ['operations', 'attention'],
  delivered: ['subscriptions', 'overview'],
  undelivered: ['subscriptions', 'overview', 'attention'],
  connections: ['connections', 'attention'],
  subscriptions: ['subscriptions', 'attention'],
};

/** Gets what has changed. */
export type Watcher = (topics: ReadonlySet<Topic>) => void;

/** Tells who watches a workspace what has changed in it, and who watches the installation, what has in any. */
export class Changes {
  readonly #watchers = new Map<string | null, Set<Watcher>>();
  #count = 0;

  /** Null: the installation. Returns what ends it. */
  watch(workspaceId: string | null, watcher: Watcher): () => void {
    const watchers = this.#watchers.get(workspaceId) ?? new Set();
    this.#watchers.set(workspaceId, watchers.add(watcher));
    this.#count++;
    return () => {
      this.#count--;
      watchers.delete(watcher);
      if (watchers.size === 0 && this.#watchers.get(workspaceId) === watchers) this.#watchers.delete(workspaceId);
    };
  }

  /** How many watch. */
  get watchers(): number {
    return this.#count;
  }

  tell(tallied: Tallied): void {
    const any = new Set<Topic>();
    for (const [workspaceId, counts] of tallied) {
      const topics = new Set(
        (Object.keys(SHOWN) as Counted[]).filter((what) => counts[what] > 0).flatMap((what) => SHOWN[what]),
      );
      for (const topic of topics) any.add(topic);
      for (const watcher of this.#watchers.get(workspaceId) ?? []) watcher(topics);
    }
    if (any.size > 0) for (const watcher of this.#watchers.get(null) ?? []) watcher(any);
  }
}
