import type { CallbackPolicy } from '../../actors/deliveries/callback-guard.js';
import type { ActorSystem } from '../../actors/system.js';
import type { ConnectionRef, ConnectionView } from '../../storage/connections/connections.js';
import type { SubscriptionRow } from '../../storage/deliveries/subscriptions.js';
import type { HttpErrorCode } from '../../storage/model/errors.js';
import type { OperationRow, Scope } from '../../storage/model/records.js';
import type { Database } from '../../storage/postgres/database.js';
import type { KeyRing } from '../../storage/secrets/encryption.js';
import type { UsableKey } from '../../storage/workspaces/keys.js';
import type { Answer, ErrorStyle } from './answer.js';
import type { JsonObject } from './body.js';
import type { DeclaredAnswers, DeclaredHeaders, SchemaOf } from './declared.js';
import type { Drain } from './drain.js';
import type { RequestHeader } from './exchange.js';
import type { Validator } from './fields.js';
import type { Loader } from './loader.js';
import type { Preferences } from './prefer.js';

/** What every handler may use. */
export interface Services {
  db: Database;
  ring: KeyRing;
  system: ActorSystem;
  callbackPolicy: CallbackPolicy;
  /** Domains that `file.download` may reach. */
  providerDomains: readonly string[] | undefined;
  load: {
    connection: Loader<ConnectionView>;
    connectionRef: Loader<ConnectionRef>;
    /** May be a moment old: for submissions, whose commit looks again. */
    submissionTarget: Loader<ConnectionRef>;
    operation: Loader<OperationRow>;
    subscription: Loader<SubscriptionRow>;
  };
  drain: Drain;
}

/** A checked request; `R`, `B`, `Q`: resource, body and query, as its route declares them. */
export interface Call<R, B, Q> extends Services {
  /** Whose request it is. On routes without a key it must not be read. */
  key: UsableKey;
  params: Record<string, string>;
  headers: Record<RequestHeader, string>;
  prefer: Preferences;
  resource: R;
  body: B;
  query: Q;
  /** Resolves when the client went away. */
  gone(): Promise<void>;
}

/** What of a call is known when its resource is looked up: whose it is, and the path. */
export type Lookup = Pick<Call<unknown, unknown, unknown>, 'key' | 'params' | 'db' | 'load'>;

export type BodySpec<B> =
  | { kind: 'none' }
  /** Whatever is sent is read past. */
  | { kind: 'ignored' }
  /** `schema` is made from the very type that `validate` checks: a different one does not compile. */
  | { kind: 'json'; limit_bytes: number; validate: Validator<B>; schema: SchemaOf<B> };

/**
 * One route, as data: the table of them drives routing, the checks and the reference. The order in which its parts are
 * looked at is `serve`'s, not the route's.
 */
export interface Route<R = unknown, B = unknown, Q = unknown> {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Segments in braces are parameters. */
  path: string;
  /** One line for the reference. */
  summary: string;
  /** All of them are needed; `none`: no key is asked for. */
  scopes: readonly Scope[] | 'none';
  errors?: ErrorStyle;
  body: BodySpec<B>;
  /** Absent: no query is taken. */
  query?: { numbers: readonly string[]; validate: Validator<Q>; schema: SchemaOf<Q> };
  /** Request headers of its own, for the reference. */
  headers?: DeclaredHeaders;
  /** What it answers when it does not refuse, for the reference; the errors of the checks are known without it. */
  answers: DeclaredAnswers;
  /** Codes that only its handler refuses with, for the reference. */
  refusals?: readonly HttpErrorCode[];
  /** The thing the path names, within the key's workspace; undefined is 404. */
  resource?(lookup: Lookup): Promise<R | undefined>;
  /** Scopes that depend on the body (as sent, not yet validated). */
  bodyScopes?(body: JsonObject): readonly Scope[];
  handle(call: Call<R, B, Q>): Promise<Answer>;
}

/** Checks a route's types where it is declared and forgets them: handlers of one table take different things. */
export function route<R = undefined, B = undefined, Q = undefined>(declared: Route<R, B, Q>): Route {
  return declared as Route<unknown, unknown, unknown>;
}
