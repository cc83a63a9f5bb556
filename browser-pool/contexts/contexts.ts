import type { BrowserKeeper } from '../chromium/browser-keeper.js';
import { nameToResolve } from '../chromium/egress.js';
import { RunFailure } from '../failures.js';
import type { PoolLimits } from '../limits.js';
import type { ProxyTarget } from '../messages.js';
import type { Renewal } from '../session.js';
import { ContextLease } from './context-lease.js';
import { type Ownership, OwnershipFence } from './ownership-fence.js';
import { SessionContext } from './session-context.js';

/** Whose context a run wants. */
export interface ContextOwner extends Ownership {
  connectionId: string;
  proxy: ProxyTarget;
  session: string | null;
  /** Called with what the site changed of the session. */
  renewed: (renewal: Renewal) => void;
  /** Called when a newer owner of the connection takes the context away. */
  fenced: () => void;
}

/**
 * The warm contexts, one a connection.
 *
 * - *idle*: kept, in the order of last use. Entered when a run gives its context back warm; left when the connection's next
 *   run takes it.
 * - *leased* to one run (see `context-lease.ts`).
 * - *closed*: it was idle for too long, outnumbered the limit, was used up or fenced, its browser retires, or its run
 *   ended badly. A context whose browser is gone is closed with it.
 *
 * I1. A context serves only the (connection, state_revision), the epoch, the proxy and the stored session it was made under:
 *     another owner, or the stream, may have used and saved the session elsewhere in between. A run of a lower revision or
 *     epoch is refused with `session_fenced`.
 * I2. One run a connection: a second one takes the context over, because it comes from the connection's newer owner.
 * I3. While more contexts are open than the limit, idle ones are closed, least recently used first.
 */
export class Contexts {
  readonly #keeper: BrowserKeeper;
  readonly #limits: PoolLimits;
  readonly #fence: OwnershipFence;
  readonly #idle = new Map<string, WarmContext>();
  readonly #leased = new Map<string, ContextOwner>();
  /** Runs whose context serves no further one. */
  readonly #retired = new WeakSet<ContextOwner>();
  /** With what ends the watch on each one's browser. */
  readonly #open = new Map<SessionContext, () => void>();

  constructor(keeper: BrowserKeeper, limits: PoolLimits) {
    this.#keeper = keeper;
    this.#limits = limits;
    this.#fence = new OwnershipFence(limits.remembered_connections);
  }

  /** Open contexts, idle and leased. */
  get open(): number {
    return this.#open.size;
  }

  /** Leases the connection's context, warm or new. Rejects with `session_fenced` or `browser_unavailable`. */
  async lease(owner: ContextOwner): Promise<ContextLease> {
    this.#admit(owner);
    try {
      const { session, uses } = this.#takeIdle(owner) ?? (await this.#make(owner));
      if (this.#owns(owner)) return this.#leaseOf(owner, session, uses);
      await this.#close(session);
      throw new RunFailure('session_fenced');
    } catch (error) {
      this.#release(owner);
      throw error;
    }
  }

  /** Has the connection's context serve no further run: closes it now, or at the end of the run that holds it. */
  retire(connectionId: string): void {
    this.#closeIdle(connectionId);
    const leased = this.#leased.get(connectionId);
    if (leased) this.#retired.add(leased);
  }

  /** I3. Also closes contexts that were idle for too long, or whose browser is no longer the current one. */
  sweep(): void {
    const before = performance.now() - this.#limits.context_idle_ms;
    for (const [connectionId, { idleSince, session }] of this.#idle) {
      if (idleSince < before || !session.browser.running || this.#open.size > this.#limits.contexts) {
        this.#closeIdle(connectionId);
      }
    }
  }

  #closeIdle(connectionId: string): void {
    const idle = this.#idle.get(connectionId);
    this.#idle.delete(connectionId);
    if (idle) void this.#close(idle.session);
  }

  #admit(owner: ContextOwner): void {
    this.#fence.admit(owner.connectionId, owner); // I1
    this.#leased.get(owner.connectionId)?.fenced(); // I2
    this.#leased.set(owner.connectionId, owner);
  }

  #takeIdle(owner: ContextOwner): WarmContext | undefined {
    const idle = this.#idle.get(owner.connectionId);
    if (!idle) return undefined;
    const usable =
      idle.stateRevision === owner.stateRevision &&
      idle.epoch === owner.epoch &&
      idle.session.leavesThrough(owner.proxy) &&
      idle.session.continues(owner.session) &&
      idle.uses < this.#limits.context_uses &&
      idle.session.browser.running;
    if (!usable) {
      this.#closeIdle(owner.connectionId); // I1
      return undefined;
    }
    this.#idle.delete(owner.connectionId);
    return idle;
  }

  async #make(owner: ContextOwner): Promise<{ session: SessionContext; uses: number }> {
    return { session: await this.#openContext(owner.proxy, owner.session), uses: 0 };
  }

  async #openContext(proxy: ProxyTarget, session: string | null): Promise<SessionContext> {
    const made = await SessionContext.open(await this.#keeper.current(nameToResolve(proxy.server)), proxy, session);
    const unwatch = made.browser.onGone(() => this.#open.delete(made));
    if (!made.browser.gone) this.#open.set(made, unwatch);
    this.sweep();
    return made;
  }

  #leaseOf(owner: ContextOwner, session: SessionContext, uses: number): ContextLease {
    const { connectionId, stateRevision, epoch } = owner;
    const open = async (saved: string | null) => {
      const renewed = await this.#openContext(owner.proxy, saved);
      renewed.reportTo(owner.renewed);
      return renewed;
    };
    session.reportTo(owner.renewed);
    const source = {
      mayKeep: () => this.#owns(owner) && !this.#retired.has(owner),
      release: () => this.#release(owner),
      open,
      close: (closed: SessionContext) => this.#close(closed),
      park: (parked: SessionContext) => {
        const idleSince = performance.now();
        this.#idle.set(connectionId, { session: parked, stateRevision, epoch, uses: uses + 1, idleSince });
        this.sweep();
      },
    };
    return new ContextLease(source, session, owner.session !== null);
  }

  #owns(owner: ContextOwner): boolean {
    return this.#leased.get(owner.connectionId) === owner;
  }

  #release(owner: ContextOwner): void {
    if (this.#owns(owner)) this.#leased.delete(owner.connectionId);
  }

  async #close(session: SessionContext): Promise<void> {
    this.#open.get(session)?.();
    this.#open.delete(session);
    await session.close();
  }
}

/** An idle context. */
interface WarmContext extends Ownership {
  session: SessionContext;
  /** Runs it has served. */
  uses: number;
  idleSince: number;
}
