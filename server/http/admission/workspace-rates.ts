import { randomUUID } from 'node:crypto';
import { LIMITS as STORAGE_LIMITS } from '../../../storage/limits.js';
import type { Logger } from '../../../storage/log/log.js';
import { HttpError } from '../../../storage/model/errors.js';
import type { Database } from '../../../storage/postgres/database.js';
import { Background } from '../../../storage/process/background.js';
import type { UsableKey } from '../../../storage/workspaces/keys.js';
import { limitOf, RATES, type Rate, type WorkspaceLimits } from '../../../storage/workspaces/limits.js';
import { dealShares, leaveShares, type Share } from '../../../storage/workspaces/rate-shares.js';
import { LIMITS } from '../limits.js';
import { RateBucket } from './rate-bucket.js';

export interface WorkspaceRatesOptions {
  /** Its statements end by themselves, answered or not. */
  db: Database;
  log: Logger;
  usual: WorkspaceLimits;
  /** How long a node without a heartbeat counts as alive. */
  lease_ms: number;
}

/** Whose requests are counted. */
export type CountedWorkspace = Pick<UsableKey, 'id' | 'workspace_id' | 'limits'> & { kind?: UsableKey['kind'] };

/** What the policy of a rate is called in headers. */
const NAMES: Record<Rate, 'requests' | 'submissions'> = {
  requests_per_second: 'requests',
  submissions_per_second: 'submissions',
};

/**
 * The rates of workspaces over all nodes (HTTP-27): each node has a share of a rate, dealt out by what each is asked for, twice a second.
 *
 * I1. A request costs no statement, and nothing at all where no limit applies.
 * I2. What was not dealt yet is an equal part of one second's, once: nodes that are asked for the first time give no more than a second's
 *     worth together.
 * I3. Without the database the last shares stay; what was not dealt by then gets an equal part.
 */
export class WorkspaceRates {
  readonly #options: WorkspaceRatesOptions;
  readonly #id = randomUUID();
  readonly #buckets: Record<Rate, Map<string, RateBucket>> = {
    requests_per_second: new Map(),
    submissions_per_second: new Map(),
  };
  readonly #rounds: Background;
  #nodes = 1;
  /** When shares of nodes that were lost were last looked for, on the monotonic clock. */
  #forgotAt = performance.now();
  #failing = false;

  constructor(options: WorkspaceRatesOptions) {
    this.#options = options;
    this.#rounds = new Background(async () => {
      await this.#round();
      return STORAGE_LIMITS.share_ms;
    });
  }

  /** Resolves when it knows how many nodes there are, or cannot learn it now: a first request counts from then on. */
  async start(): Promise<void> {
    await this.#deal([], []);
    this.#rounds.start();
  }

  /** What the request counts in, empty ones among them; undefined where no limit applies. An operator's counts nowhere. */
  count(key: CountedWorkspace, submits: boolean): RateBucket[] | undefined {
    if (key.kind === 'operator') return undefined;
    const requests = limitOf('requests_per_second', key.limits, this.#options.usual);
    const submissions = submits ? limitOf('submissions_per_second', key.limits, this.#options.usual) : null;
    if (requests === null && submissions === null) return undefined; // I1
    const counted = [];
    if (requests !== null) counted.push(this.#bucket('requests_per_second', key.workspace_id, requests));
    if (submissions !== null) counted.push(this.#bucket('submissions_per_second', key.workspace_id, submissions));
    return counted;
  }

  /** About how many a second the workspace asks for, over all nodes, what was refused among them. */
  asked(rate: Rate, workspaceId: string): number {
    const bucket = this.#buckets[rate].get(workspaceId);
    return bucket ? Math.round(bucket.askedPerSecond(performance.now()) + bucket.elsewhere) : 0;
  }

  /** Begins no further round, and leaves the shares to the other nodes. */
  async close(): Promise<void> {
    await this.#rounds.stop();
    if (RATES.every((rate) => this.#buckets[rate].size === 0)) return;
    await leaveShares(this.#options.db, this.#id).catch(() => {}); // without it they run out
  }

  #bucket(rate: Rate, workspaceId: string, bound: number): RateBucket {
    const buckets = this.#buckets[rate];
    let bucket = buckets.get(workspaceId);
    if (!bucket) {
      bucket = new RateBucket(workspaceId, rate, bound, 1 / this.#nodes, performance.now()); // I2
      buckets.set(workspaceId, bucket);
    } else if (bucket.bound !== bound) bucket.rescale(bound, performance.now());
    return bucket;
  }

  async #round(): Promise<void> {
    const now = performance.now();
    const forgotten: RateBucket[] = [];
    const active: RateBucket[] = [];
    for (const rate of RATES)
      for (const bucket of this.#buckets[rate].values())
        (now - bucket.askedAt > LIMITS.rate_idle_ms ? forgotten : active).push(bucket);
    if (active.length + forgotten.length === 0 && !this.#limited) return; // I1
    await this.#deal(active, forgotten);
    if (now - this.#forgotAt < STORAGE_LIMITS.forget_ms) return;
    this.#forgotAt = now;
    await leaveShares(this.#options.db, null).catch(() => {}); // the next look finds them
  }

  async #deal(active: readonly RateBucket[], forgotten: readonly RateBucket[]): Promise<void> {
    const { db, lease_ms, log } = this.#options;
    const now = performance.now();
    const demands = active.map((bucket) => {
      const { workspaceId, rate, bound } = bucket;
      return { workspaceId, rate, bound, asked: bucket.askedPerSecond(now) };
    });
    try {
      const { nodes, shares } = await db.transaction((tx) => dealShares(tx, this.#id, demands, forgotten, lease_ms));
      this.#nodes = Math.max(1, nodes);
      for (const share of shares) this.#take(share);
      // One that was asked meanwhile is told of again in the next round.
      for (const { rate, workspaceId, askedAt } of forgotten)
        if (askedAt < now) this.#buckets[rate].delete(workspaceId);
      this.#failing = false;
    } catch (error) {
      for (const bucket of active) if (!bucket.dealt) bucket.deal(1 / this.#nodes, performance.now()); // I3
      if (!this.#failing) log.warn({ err: error }, 'rates: the shares of workspaces stay as they are, trying again');
      this.#failing = true;
    }
  }

  #take({ rate, workspace_id, share, elsewhere }: Share): void {
    const bucket = this.#buckets[rate].get(workspace_id);
    if (!bucket) return;
    bucket.elsewhere = elsewhere;
    bucket.deal(share, performance.now());
  }

  get #limited(): boolean {
    return RATES.some((rate) => this.#options.usual[rate] !== null);
  }
}

/** Takes one of each, up to the first that is empty, which it gives. */
export function takeOf(counted: readonly RateBucket[]): RateBucket | undefined {
  const now = performance.now();
  return counted.find((bucket) => !bucket.take(now));
}

/** 429 for the one that was empty. */
export function exceeded({ rate }: RateBucket): HttpError {
  return new HttpError('rate_limited', `too many ${NAMES[rate]} of the workspace`);
}

/** As the IETF's draft of them has it: the rates that a request counted in, and what this node has left of each. */
export function rateHeaders(counted: readonly RateBucket[]): Record<string, string> {
  const now = performance.now();
  const policies = counted.map(({ rate, bound }) => `"${NAMES[rate]}";q=${bound};w=1`);
  const left = counted.map((bucket) => `"${NAMES[bucket.rate]}";r=${bucket.left(now)};t=1`);
  return { 'RateLimit-Policy': policies.join(', '), RateLimit: left.join(', ') };
}
