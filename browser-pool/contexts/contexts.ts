import type { BrowserKeeper } from '../chromium/browser-keeper.js';
import { RunFailure } from '../failures.js';
import { type PoolLimits, REMEMBERED_OWNERSHIPS } from '../limits.js';
import type { ProxyTarget } from '../messages.js';
import { SessionContext } from './session-context.js';

/** Whose context a run wants, and how it is told that it has lost it. */
export interface ContextOwner {
  connectionId: string;
  stateRevision: number;
  epoch: number;
  proxy: ProxyTarget;
  session: string | null;
  /** The context is taken away by a newer owner of the connection. */
  fenced: () => void;
}

/** A context while a run holds it. Exactly one of `keep` and `drop` ends the lease. */
export interface ContextLease {
  readonly session: SessionContext;
  /** Gives the context back warm; false when it may not be kept and is closed instead. */
  keep(): boolean;
  /** Gives it back to be closed. */
  drop(): Promise<void>;
  /** Closes it and goes on with another one of this session through the same proxy, which is never kept. */
  renew(session: string | null): Promise<void>;
}

/**
 * The warm contexts, one a connection. A context is *idle* (kept in the order of last use) or *leased* to one run; it
 * is closed when it was idle for long, evicted, worn out, fenced, or its browser retires, and forgotten when its
 * browser is gone.
 *
 * I1. A context serves only the (connection, state_revision) it was made for, and only under the epoch it was made
 *     under: another owner in between may have used and saved the session elsewhere. A revision or an epoch lower
 *     than the highest one seen is refused with `session_fenced`; a higher one closes what the lower one had.
 * I2. One run a connection: a second one takes the context over, because it comes from the connection's newer owner.
 * I3. Idle contexts are closed, least recently used first, while there are more than the limit in all.
 */
export class Contexts {
  #keeper: BrowserKeeper;
  #limits: PoolLimits;
  #idle = new Map<string, IdleContext>();
  #leased = new Map<string, ContextOwner>();
  /** With what takes each off its browser's watch. */
  #open = new Map<SessionContext, () => void>();
  #highest = new Map<string, Ownership>();

  constructor(keeper: BrowserKeeper, limits: PoolLimits) {
    this.#keeper = keeper;
    this.#limits = limits;
  }

  /** Open contexts, idle and leased. */
  get open(): number {
    return this.#open.size;
  }

  /** Leases the connection's context, warm or new. Rejects with `session_fenced` or `browser_unavailable`. */
  async lease(owner: ContextOwner): Promise<ContextLease> {
    this.#admit(owner);
    try {
      const held = this.#takeIdle(owner) ?? (await this.#new(owner));
      if (this.#holds(owner)) return this.#leaseOf(owner, held);
      await this.#close(held.session);
      throw new RunFailure('session_fenced');
    } catch (error) {
      this.#release(owner);
      throw error;
    }
  }

  /** Closes the connection's idle context without saving it. */
  closeIdle(connectionId: string): void {
    const idle = this.#idle.get(connectionId);
    this.#idle.delete(connectionId);
    if (idle) void this.#close(idle.session);
  }

  /** Closes contexts that were idle too long, outnumber the limit, or whose browser takes no more. */
  sweep(): void {
    const before = performance.now() - this.#limits.context_idle_ms;
    for (const [connectionId, idle] of this.#idle) {
      if (idle.since < before || !idle.session.browser.running || this.#open.size > this.#limits.contexts) {
        this.closeIdle(connectionId);
      }
    }
  }

  /** I1 and I2. */
  #admit(owner: ContextOwner): void {
    const { connectionId, stateRevision, epoch } = owner;
    const highest = this.#highest.get(connectionId);
    if (highest && (stateRevision < highest.stateRevision || epoch < highest.epoch)) {
      throw new RunFailure('session_fenced');
    }
    this.#highest.delete(connectionId);
    this.#highest.set(connectionId, { stateRevision, epoch });
    if (this.#highest.size > REMEMBERED_OWNERSHIPS) this.#highest.delete(this.#highest.keys().next().value ?? '');
    this.#leased.get(connectionId)?.fenced();
    this.#leased.set(connectionId, owner);
  }

  #takeIdle(owner: ContextOwner): IdleContext | undefined {
    const idle = this.#idle.get(owner.connectionId);
    if (!idle) return undefined;
    const usable =
      idle.stateRevision === owner.stateRevision &&
      idle.epoch === owner.epoch &&
      idle.uses < this.#limits.context_uses &&
      idle.session.browser.running;
    if (!usable) {
      this.closeIdle(owner.connectionId);
      return undefined;
    }
    this.#idle.delete(owner.connectionId);
    return idle;
  }

  async #new(owner: ContextOwner): Promise<IdleContext> {
    const session = await this.#make(owner.proxy, owner.session);
    return { session, stateRevision: owner.stateRevision, epoch: owner.epoch, uses: 0, since: 0 };
  }

  async #make(proxy: ProxyTarget, session: string | null): Promise<SessionContext> {
    const made = await SessionContext.open(await this.#keeper.current(), proxy, session);
    const unwatch = made.browser.onGone(() => this.#open.delete(made));
    if (!made.browser.gone) this.#open.set(made, unwatch);
    this.sweep();
    return made;
  }

  #leaseOf(owner: ContextOwner, held: IdleContext): ContextLease {
    let { session } = held;
    let keepable = owner.session !== null;
    let ended = false;
    const drop = async () => {
      ended = true;
      this.#release(owner);
      await this.#close(session);
    };
    return {
      get session() {
        return session;
      },
      keep: () => {
        if (ended) return false;
        if (!keepable || !this.#holds(owner) || session.browser.gone) {
          void drop();
          return false;
        }
        ended = true;
        this.#release(owner);
        this.#idle.set(owner.connectionId, { ...held, uses: held.uses + 1, since: performance.now() });
        this.sweep();
        return true;
      },
      drop,
      renew: async (saved) => {
        keepable = false;
        await this.#close(session);
        const renewed = await this.#make(owner.proxy, saved);
        if (ended) await this.#close(renewed);
        else session = renewed;
      },
    };
  }

  #holds(owner: ContextOwner): boolean {
    return this.#leased.get(owner.connectionId) === owner;
  }

  #release(owner: ContextOwner): void {
    if (this.#holds(owner)) this.#leased.delete(owner.connectionId);
  }

  async #close(session: SessionContext): Promise<void> {
    this.#open.get(session)?.();
    this.#open.delete(session);
    await session.close();
  }
}

/** Under what a connection's runs come; both only grow. */
interface Ownership {
  stateRevision: number;
  epoch: number;
}

interface IdleContext extends Ownership {
  session: SessionContext;
  uses: number;
  since: number;
}
