import type { CallbackPolicy } from '../../actors/deliveries/callback/callback-guard.js';
import type { ActorSystem } from '../../actors/system.js';
import type { ConnectionRef, ConnectionView } from '../../storage/connections/connections.js';
import type { SubscriptionRow } from '../../storage/deliveries/subscriptions.js';
import type { LogLines } from '../../storage/log/log-lines.js';
import type { AuditAction } from '../../storage/model/audit.js';
import type { HttpErrorCode } from '../../storage/model/error-codes.js';
import type { OperationRow, Right } from '../../storage/model/records.js';
import type { Changes } from '../../storage/overview/changes.js';
import type { Tally } from '../../storage/overview/tally.js';
import type { Database } from '../../storage/postgres/database.js';
import type { KeyRing } from '../../storage/secrets/encryption.js';
import type { OnOperationEnded } from '../../storage/tracing/ended-operations.js';
import type { UsableKey } from '../../storage/workspaces/keys.js';
import type { WorkspaceLimits } from '../../storage/workspaces/limits.js';
import type { CountedWorkspace, WorkspaceRates } from './admission/workspace-rates.js';
import type { WorkspaceStored } from './admission/workspace-stored.js';
import type { Answer, ErrorStyle } from './answer.js';
import type { Audit } from './audit.js';
import type { JsonObject } from './body.js';
import type { DeclaredAnswers, DeclaredHeaders, SchemaOf } from './declared.js';
import type { Drain } from './drain.js';
import type { Validator } from './fields.js';
import type { Callers, Sender } from './identity/callers.js';
import type { ConsoleCookie } from './identity/console-cookie.js';
import type { Loader } from './loader.js';
import type { Preferences } from './prefer.js';
import type { RequestContext } from './request-context.js';
import type { Reveals } from './reveals.js';
import type { SubscriptionRules } from './subscription-rules.js';
import type { RequestHeader } from './wire/request-headers.js';

/** What every handler may use. */
export interface Services {
  db: Database;
  /** Connections that no request waits for: for health. */
  control: Database;
  ring: KeyRing;
  system: ActorSystem;
  callbackPolicy: CallbackPolicy;
  subscriptions: SubscriptionRules;
  /** What a workspace may have that has no limit of its own (HTTP-27). */
  limits: WorkspaceLimits;
  workspaceRates: Pick<WorkspaceRates, 'asked'>;
  workspaceStored: Pick<WorkspaceStored, 'used_mib' | 'isBelow' | 'accepted'>;
  reveals: Pick<Reveals, 'note'>;
  /** Domains that `file.download` may reach. */
  providerDomains: readonly string[] | undefined;
  load: {
    connection: Loader<ConnectionView>;
    connectionRef: Loader<ConnectionRef>;
    /** May be `LIMITS.connection_cache_ms` old: for submissions, whose commit checks again. */
    submissionTarget: Loader<ConnectionRef>;
    operation: Loader<OperationRow>;
    subscription: Loader<SubscriptionRow>;
    /** The last hour of a workspace, or of the installation, as an answer. */
    overview: Loader<Answer>;
  };
  drain: Drain;
  /** Who sends requests: for sign-ins, which are no request of a key. */
  callers: Callers;
  consoleCookie: ConsoleCookie;
  /** How long before its end a key is told of; 0: never. */
  keyExpiryWarningDays: number;
  /** The origin at which browsers find the service; null: it is not told. */
  publicUrl: string | null;
  lines: LogLines;
  /** Is called with each operation that the edge itself ends. */
  ended: OnOperationEnded;
  /** Counts what requests change (HTTP-29), and tells who watches. */
  tally: Tally;
  changes: Changes;
  /** Behind a gateway, whose headers every request carries (HTTP-11). */
  hosted: boolean;
  /** Waits for what this thread has no part in: meanwhile the request does not count among those that keep it busy. */
  parked<T>(wait: Promise<T>): Promise<T>;
  /**
   * Does the work of a request that needs no key as one of the workspace that it turned out to be about: it counts in its rates, and has its share
   * of this node and of the database (HTTP-13, HTTP-27). Throws 429 past a rate.
   */
  asWorkspace<T>(workspace: CountedWorkspace, work: (share: Pick<Services, 'db' | 'parked'>) => Promise<T>): Promise<T>;
}

/** A checked request; `R`, `B`, `Q`: resource, body and query, as its route declares them. */
export interface Call<R, B, Q> extends Services {
  /** Must not be read on routes without a key. */
  key: UsableKey;
  params: Record<string, string>;
  sender: Sender;
  audit: Audit;
  headers: Readonly<Record<RequestHeader, string>>;
  context: RequestContext;
  prefer: Preferences;
  resource: R;
  body: B;
  query: Q;
  /** Of the body as it was sent. */
  body_bytes: number;
  /** Resolves when the client went away. */
  gone(): Promise<void>;
}

/** The part of a call that is known when its resource is looked up: the key and the path. */
export type Lookup = Pick<Call<unknown, unknown, unknown>, 'key' | 'params' | 'db' | 'load'>;

export type BodySpec<B> =
  | { kind: 'none' }
  /** A body is read and dropped. */
  | { kind: 'ignored' }
  /** `schema` is made from the very type that `validate` checks: a different one does not compile. */
  | { kind: 'json'; limit_bytes: number; validate: Validator<B>; schema: SchemaOf<B> };

/**
 * One route, as data: the table of them drives routing, the checks and the reference. The table of gates (`admission/gates.ts`) decides the order in which
 * its parts are checked.
 */
export interface Route<R = unknown, B = unknown, Q = unknown> {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Segments in braces are parameters. */
  path: string;
  /** Verb and noun, unique among the routes: what generated clients call it. */
  operationId: string;
  /** One line for the reference. */
  summary: string;
  /** What it does and what its caller has to know, in whole sentences. */
  description: string;
  /**
   * What the audit log calls it (HTTP-30); its handler records that in the transaction that does it. Every route that is not a GET has one, or
   * `none` where it changes nothing; a GET that shows what is kept from view has one as well.
   */
  audit?: AuditAction | 'none';
  /** What the audit log calls it when an operator reads by it what a tenant has (HTTP-30): its handler says what it shows. */
  revealed?: AuditAction;
  /** All of them are needed; `none`: the route needs no key. */
  scopes: readonly Right[] | 'none';
  /**
   * Whoever watches the service asks it, and is answered whatever else there is to do: `past the gateway`, by a supervisor beside the service,
   * without the gateway's headers; `through the gateway`, with them, but unnamed (HTTP-11).
   */
  probe?: 'past the gateway' | 'through the gateway';
  /** It is about the session in the cookie of the console: it needs that one in place of a key. */
  session?: true;
  errors?: ErrorStyle;
  body: BodySpec<B>;
  /** Its requests are submissions: they count in that rate of their workspace (HTTP-27). */
  submits?: true;
  /** What of a workspace is changed by a request that succeeds: who watches it is told (HTTP-29). Operations count themselves. */
  changes?: 'connections' | 'subscriptions';
  /** Operators and balancers ask for it again and again: its requests are logged at `debug`. */
  routine?: true;
  /** Absent: no query is taken. */
  query?: { numbers: readonly string[]; validate: Validator<Q>; schema: SchemaOf<Q> };
  /** Request headers of its own, for the reference. */
  headers?: DeclaredHeaders;
  /** Its answers for the reference; the errors of the checks are known without it. */
  answers: DeclaredAnswers;
  /** Codes that its handler alone refuses with, for the reference. */
  refusals?: readonly HttpErrorCode[];
  /** Whether a request with these preferences waits for what takes its time: it is counted among the long polls. */
  waits?(prefer: Preferences): boolean;
  /** True when its request would be refused with 503 `overloaded` whatever it holds: then it is, before any other check. */
  crowded?(params: Record<string, string>, system: ActorSystem): boolean;
  /** The resource the path names, within the key's workspace; undefined is answered 404. */
  resource?(lookup: Lookup): Promise<R | undefined>;
  /** Scopes that depend on the body (as sent, not yet validated). */
  bodyScopes?(body: JsonObject): readonly Right[];
  handle(call: Call<R, B, Q>): Promise<Answer>;
}

/**
 * Checks a route's types where it is declared and erases them: the routes of one table have different types. Throws for one that changes
 * something and does not say what the audit log calls it.
 */
export function route<R = undefined, B = undefined, Q = undefined>(declared: Route<R, B, Q>): Route {
  if (declared.method !== 'GET' && !declared.audit)
    throw new Error(`${declared.operationId} names no action of the audit log`);
  return declared as Route<unknown, unknown, unknown>;
}
