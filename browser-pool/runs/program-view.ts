import type { BrowserContext, Page } from 'playwright';
import type { WriteProgress } from '../../storage/model/evidence.js';
import type { ChallengeKind } from '../../storage/model/records.js';
import type { Deadline } from '../../storage/process/deadline.js';
import type { PoolLimits } from '../limits.js';
import type { ProxyTarget, RunOrder } from '../messages.js';
import type { ProgramRun } from '../program.js';
import type { SendPermission } from '../send-permission.js';
import type { HeldResources } from './held-resources.js';

/** The calls of a program that its actor answers, and what its run tells of the one that writes. */
export type ActorCalls = Pick<
  ProgramRun,
  'boundary' | 'progress' | 'store' | 'unverifyRecruiter' | 'challenge' | 'challengeElsewhere'
>;

/** A run as its page program sees it: the order, the resources it holds, the calls to its actor, and the time left. */
export class ProgramView implements ProgramRun {
  readonly input: Record<string, unknown>;
  readonly credentials: { username: string; password: string } | undefined;
  readonly actorId: string | null;
  readonly hasSession: boolean;
  readonly proxy: ProxyTarget;
  readonly #held: HeldResources;
  readonly #actor: ActorCalls;
  readonly #limits: PoolLimits;
  readonly #deadline: Deadline;

  constructor(order: RunOrder, held: HeldResources, actor: ActorCalls, limits: PoolLimits, deadline: Deadline) {
    this.input = order.input;
    this.credentials = order.credentials;
    this.actorId = order.actorId;
    this.hasSession = order.session !== null;
    this.proxy = order.proxy;
    this.#held = held;
    this.#actor = actor;
    this.#limits = limits;
    this.#deadline = deadline;
  }

  get context(): BrowserContext {
    return this.#held.context;
  }

  get userAgent(): string {
    return this.#held.userAgent;
  }

  get signal(): AbortSignal {
    return this.#deadline.signal;
  }

  page(): Promise<Page> {
    return this.#held.openPage(this.navigation_ms());
  }

  renewContext(session: string | null): Promise<void> {
    return this.#held.renewContext(session);
  }

  session(): Promise<string> {
    return this.#held.session();
  }

  get progress(): WriteProgress {
    return this.#actor.progress;
  }

  renewedSession(): Promise<string> {
    return this.#held.renewedSession();
  }

  sawCookies(leftOut: string[]): void {
    this.#held.sawCookies(leftOut);
  }

  boundary(): Promise<SendPermission> {
    return this.#actor.boundary();
  }

  store(bytes: ArrayBuffer): Promise<void> {
    return this.#actor.store(bytes);
  }

  unverifyRecruiter(): Promise<void> {
    return this.#actor.unverifyRecruiter();
  }

  challenge(kind: ChallengeKind, acceptsCode: boolean): Promise<string> {
    return this.#actor.challenge(kind, acceptsCode);
  }

  challengeElsewhere(kind: ChallengeKind, look: () => Promise<boolean>): Promise<void> {
    return this.#actor.challengeElsewhere(kind, look);
  }

  request_ms(): number {
    return this.#deadline.atMost(this.#limits.request_ms);
  }

  navigation_ms(): number {
    return this.#deadline.atMost(this.#limits.navigation_ms);
  }
}
