import type { Logger } from '../../storage/log/log.js';
import { type Backlog, shareBacklog } from '../../storage/partitions/backlog.js';
import type { Sql } from '../../storage/postgres/database.js';
import { type Background, regularly } from '../../storage/process/background.js';
import { LIMITS } from '../limits.js';
import { retryWaits } from '../retry.js';
import type { Submission } from '../system.js';

export interface BacklogsOptions {
  /** Its statements end by themselves, answered or not. */
  db: Sql;
  log: Logger;
  nodeId: string;
  /** Operations of one workspace that may be accepted and not ended, over all nodes. */
  workspaceOperations: number;
  /** What the threads of this node reported last. */
  own(): Iterable<readonly [id: string, operations: number]>;
}

/**
 * How much of each workspace, and of each connection, is accepted and has not ended, over all nodes: so that one that piles work up
 * is refused at every edge, and its neighbours find room. Owners count what they have in hand; each node notes its large counts and
 * adds up the others' every LIMITS.poll_ms. The bound is therefore exceeded by what is accepted in a second or two.
 *
 * Invariants: I1 a database that does not answer refuses nobody: the sums of the last answer stay.
 */
export class Backlogs {
  readonly #options: BacklogsOptions;
  #sums: Backlog = new Map();
  #rounds: Background | undefined;

  constructor(options: BacklogsOptions) {
    this.#options = options;
  }

  start(): void {
    const failed = (error: unknown) =>
      this.#options.log.warn({ err: error }, 'backlogs: they could not be shared, trying again'); // I1
    this.#rounds = regularly({ interval_ms: LIMITS.poll_ms, waits: retryWaits(), failed }, () => this.#share());
  }

  async stop(): Promise<void> {
    await this.#rounds?.stop();
  }

  /** Whose backlog refuses this submission, if one does. */
  full({ workspaceId, connectionId }: Submission): 'workspace' | 'connection' | undefined {
    if (this.#of(workspaceId) >= this.#options.workspaceOperations) return 'workspace';
    return this.#of(connectionId) >= LIMITS.mailbox_operations ? 'connection' : undefined;
  }

  #of(id: string): number {
    return this.#sums.get(id) ?? 0;
  }

  async #share(): Promise<void> {
    const { db, nodeId, own } = this.#options;
    const mine = new Map<string, number>();
    for (const [id, operations] of own()) mine.set(id, (mine.get(id) ?? 0) + operations);
    const sums = new Map(await shareBacklog(db, nodeId, mine, LIMITS.lease_ms));
    for (const [id, operations] of mine) sums.set(id, (sums.get(id) ?? 0) + operations);
    this.#sums = sums;
  }
}
