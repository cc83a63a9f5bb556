import type { BrowserContext, Page } from 'playwright';
import type { WriteProgress } from '../storage/model/evidence.js';
import type { ChallengeKind } from '../storage/model/records.js';
import type { SkipReason } from './contract/signature.js';
import type { ProxyTarget, SessionEffects } from './messages.js';
import type { SendPermission } from './send-permission.js';

/**
 * What a page program is given: one run of one capability in a context that holds the connection's session. All its
 * waits end when the run ends, because the run's context is closed then. A program throws `RunFailure` for what
 * it understands; anything else that it throws is classified.
 */
export interface ProgramRun<Input extends object = Record<string, unknown>> {
  /** Validated at submission against the capability's input type. */
  readonly input: Input;
  /** Only for login. */
  readonly credentials: { username: string; password: string } | undefined;
  /** The account that login found. */
  readonly actorId: string | null;
  /** Whether the context started from a stored session. */
  readonly hasSession: boolean;
  /** The proxy of the context; requests without a browser must go through it, too. */
  readonly proxy: ProxyTarget;
  /** The context as it is now; another one after `renewContext`. Its pages come from `page`. */
  readonly context: BrowserContext;
  /** The run's one page, opened by the first call; after a challenge, where it was. Waits for a page slot. */
  page(): Promise<Page>;
  /** Goes on in a new context of this session, or of none. The page of before is closed. */
  renewContext(session: string | null): Promise<void>;
  /** The session as it is now, to be returned in the effects. Quick only while a page of the site is open. */
  session(): Promise<string>;
  /** The session that the context was made from, with the cookies that it has now: the site may have renewed them since. */
  renewedSession(): Promise<string>;
  /**
   * To be called when an answer that no page received has set cookies of the context: they are stored at once. `leftOut`: the names
   * of those that no browser takes.
   */
  sawCookies(leftOut: string[]): void;
  /** Aborts when the run is ended from outside: from then on nothing of it may leave. */
  readonly signal: AbortSignal;
  /** The `User-Agent` of the browser; requests without a browser carry the same. */
  readonly userAgent: string;
  /**
   * To be called right before the one request that the provider could act on; nothing before it may write. The request may
   * begin to leave only while the permission holds, which its sender looks at last (`Endpoints.write`).
   */
  boundary(): Promise<SendPermission>;
  /**
   * How far that request came: its sender replaces the parts as it goes, so that the run can tell whenever it is ended.
   */
  readonly progress: WriteProgress;
  /**
   * Asks the user for a code, again after a wrong one. The page of before may be closed meanwhile: get it from `page`
   * again. With `acceptsCode` false it only ever rejects.
   */
  challenge(kind: ChallengeKind, acceptsCode: boolean): Promise<string>;
  /**
   * Waits for what the user does elsewhere: `look` is called now and then, with a slot and without the page of before, until it
   * gives true. An error that it throws ends the wait.
   */
  challengeElsewhere(kind: ChallengeKind, look: () => Promise<boolean>): Promise<void>;
  /**
   * Stores the next part of the file that is the result; resolves once it is durable. The buffer is detached by the call.
   * Every part but the last is `file_part_bytes` long.
   */
  store(bytes: ArrayBuffer): Promise<void>;
  /**
   * Call it before the site may change the recruiter contract of the session: resolves once the connection shows none, durably, so that
   * nothing reads under a contract that is not shown, whatever becomes of this run (CONN-14).
   */
  unverifyRecruiter(): Promise<void>;
  /** Milliseconds one call of a JSON endpoint may take: its limit or the running time left, whichever is less. */
  request_ms(): number;
  /** The same for one navigation or one wait on a page. */
  navigation_ms(): number;
}

/** What a program ends with; `state_revision` is added where the outcome is stored. */
export type ProgramOutcome<Result extends object = Record<string, unknown>> =
  | { result: Result; effects?: SessionEffects }
  | { skipped: SkipReason; effects?: SessionEffects };

/** One capability on one site. */
export interface Program {
  (run: ProgramRun): Promise<ProgramOutcome>;
  /** It drives a page: its runs wait for a page slot before they hold anything else, so that a wait costs no context. */
  usesPage?: boolean;
}

/** The programs of a site by capability name. */
export type Programs = ReadonlyMap<string, Program>;
