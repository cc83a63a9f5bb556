import type { OperationErrorCode } from '../storage/model/error-codes.js';
import type { WriteProgress } from '../storage/model/evidence.js';
import type { ChallengeKind, Health } from '../storage/model/records.js';
import type { SendPermission } from './send-permission.js';
import type { Renewal } from './session.js';

/**
 * The messages between a connection actor and a browser host. A run is one execution of one page program; it starts
 * with `run` and ends with exactly one `result`, `skipped` or `failure`, whatever happens to the browser in between.
 */

/** A regional forward proxy, as Playwright takes it. */
export interface ProxyTarget {
  id: string;
  /** `http://host:port` */
  server: string;
  username?: string;
  password?: string;
}

/** The order for one run, sent by the connection's actor. */
export interface RunOrder {
  workspaceId: string;
  connectionId: string;
  /** A context belongs to (connection, state_revision): a lower one than seen before is `session_fenced`. */
  stateRevision: number;
  /** The partition's epoch: a context made under another one is not used, and a run of a lower one is not served. */
  epoch: number;
  /** Name of the capability whose page program runs, or of the look (`contract/look.ts`). */
  capability: string;
  input: Record<string, unknown>;
  proxy: ProxyTarget;
  /** Playwright `storageState` as JSON text; null before the first login. */
  session: string | null;
  /** Only for login. */
  credentials?: { username: string; password: string };
  /** Hash id of the account as login found it; null before. The identity check compares with it. */
  actorId: string | null;
  /** Milliseconds of running time left; they pass while the run's clock runs (`clock`), and not in waits for the actor (OPS-17). */
  deadline_ms: number;
}

/** From the actor. `run` is a number that the sender gives each of its runs. */
export type ToBrowser =
  | ({ type: 'run'; run: number } & RunOrder)
  /** Answer to `boundary`: the phase `dispatching` is durable, and the request may begin to leave while the permission holds. */
  | { type: 'proceed'; run: number; permission: SendPermission }
  /** Answer to `file` and `unverify`: it is durable, the program may go on. */
  | { type: 'stored'; run: number }
  /** Answer to `challenge`. */
  | { type: 'code'; run: number; code: string }
  /** Stop as soon as the program can; the run still answers (`canceled` before the boundary). */
  | { type: 'cancel'; run: number }
  /** The session is fenced (disconnect, PATCH, delete, lost partition): drop its context without saving. */
  | { type: 'close'; connectionId: string }
  /** The connection has another session or pin: its context serves no further run, and the run that holds it ends as it would. */
  | { type: 'retire'; connectionId: string };

/** From the browser host. */
export type FromBrowser =
  /**
   * The run's clock goes, or stands still: the running time begins when the run has its slot and its context, and stops while
   * it waits for another slot (OPS-17). Sent at each change; a run begins with a clock that stands.
   */
  | { type: 'clock'; run: number; running: boolean }
  /** About to do something the provider could act on. The program waits for `proceed`. */
  | { type: 'boundary'; run: number }
  /** The next part of the file that is the run's result (OPS-14). The program waits for `stored`. Transferred. */
  | { type: 'file'; run: number; bytes: ArrayBuffer }
  /** About to choose another recruiter contract: until one is proven, the connection is to show none. The program waits for `stored`. */
  | { type: 'unverify'; run: number }
  /** The provider asks for a code (again, after a wrong one). The program waits for `code` or `cancel`. */
  | { type: 'challenge'; run: number; kind: ChallengeKind; acceptsCode: boolean }
  /** The site shows that the challenge, one without a code, is over. The program waits for `code`. */
  | { type: 'challengeEnded'; run: number }
  | { type: 'result'; run: number; result: Record<string, unknown>; effects?: SessionEffects }
  /** Nothing was left to do (OPS-7). */
  | { type: 'skipped'; run: number; reason: string; effects?: SessionEffects }
  | {
      type: 'failure';
      run: number;
      code: OperationErrorCode | 'canceled';
      details?: Record<string, unknown>;
      /** Browser, proxy or network trouble, and no write has left: it may be tried again (OPS-4). */
      transient: boolean;
      /** It failed after `proceed` without the provider's definite refusal: whether the provider acted is unknown. */
      pastBoundary: boolean;
      /** It failed while it waited for `proceed` or after it, the row may say `dispatching`, and it is certain that nothing has left. */
      unsent: boolean;
      /** How far the request of a write came, where it may have left. */
      progress?: WriteProgress;
      effects?: SessionEffects;
    }
  /**
   * The site changed cookies of the connection's stored session. Sent as soon as it is known, before the end of the run that saw it;
   * for a context that closes, at any time.
   */
  | ({ type: 'renewed' } & RenewedSession)
  /** Every `stats_interval_ms`: what the host holds, for metrics and `queue stats`. */
  | { type: 'stats'; stats: BrowserStats };

/** The message that ends a run. */
export type RunEnd = Extract<FromBrowser, { type: 'result' | 'skipped' | 'failure' }>;

/** A session that its site renewed, under the revision that it was used under. */
export interface RenewedSession extends Renewal {
  connectionId: string;
  stateRevision: number;
}

/** What a run learned about the connection; stored together with its outcome. */
export interface SessionEffects {
  /** A new session: `storageState` as JSON text. The actor stores it sealed and counts state_revision up. */
  session?: string;
  health?: Health;
  /** The authenticated account's hash id. */
  actorId?: string;
  recruiter?: { health: 'ready' | 'needs_switch' | 'not_verified'; reason: string | null; contract: string | null };
}

export interface BrowserStats {
  browser: 'none' | 'starting' | 'running' | 'unavailable';
  contexts: number;
  /** Pages held by runs. */
  pages: number;
  /** Pages kept open for the next run of their context. */
  warm_pages: number;
  running: number;
  queued: number;
  restarts: number;
  /** Of every browser process, when last measured; 0 where it cannot be measured. */
  memory_mib: number;
  /** How long the event loop of the thread was held up, at the longest of late. */
  loop_lag_s: number;
}
