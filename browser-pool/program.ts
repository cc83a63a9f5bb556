import type { BrowserContext, Page } from 'playwright';
import type { ChallengeKind } from '../storage/model/records.js';
import type { SkipReason } from './contract/signature.js';
import type { ProxyTarget, SessionEffects } from './messages.js';

/**
 * What a page program is given: one run of one capability in a context that holds the connection's session. Every
 * wait of it ends when the run does, because the run's context is closed then. A program throws `RunFailure` for what
 * it understands; anything else it throws is classified.
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
  /** What the context goes out through; requests without a browser must, too. */
  readonly proxy: ProxyTarget;
  /** The context as it is now; another one after `renewContext`. Its pages are got from `page`. */
  readonly context: BrowserContext;
  /** The run's one page, opened when first asked for; after a challenge, where it was. Waits for its turn. */
  page(): Promise<Page>;
  /** Goes on in a fresh context of this session, or of none at all. A page got before is closed. */
  renewContext(session: string | null): Promise<void>;
  /** The session as it is now, to be returned in the effects. Ask while a page of the site is open. */
  session(): Promise<string>;
  /** Call it right before the one request that the provider could act on, and nothing that writes before. */
  boundary(): Promise<void>;
  /**
   * Asks the user for a code, again after a wrong one. The page of before may be closed meanwhile: get it from `page`
   * again. With `acceptsCode` false it only ever rejects.
   */
  challenge(kind: ChallengeKind, acceptsCode: boolean): Promise<string>;
  /**
   * Stores the next part of the file that is the result; resolves once it is durable. The bytes are gone from here then.
   * Every part but the last is `FILE_PART_BYTES` long.
   */
  store(bytes: ArrayBuffer): Promise<void>;
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
export type Program = (run: ProgramRun) => Promise<ProgramOutcome>;

/** The programs of a site by capability name. */
export type Programs = ReadonlyMap<string, Program>;
