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
import type { Validator } from './fields.js';
import type { Loader } from './loader.js';
import type { Preferences } from './prefer.js';
import type { RequestHeader } from './request-headers.js';

/** What every handler may use. */
export interface Services {
  db: Database;
  /** Connections that no request waits for: for health. */
  control: Database;
  ring: KeyRing;
  system: ActorSystem;
  callbackPolicy: CallbackPolicy;
  /** Domains that `file.download` may reach. */
  providerDomains: readonly string[] | undefined;
  load: {
    connection: Loader<ConnectionView>;
    connectionRef: Loader<ConnectionRef>;
    /** May be `LIMITS.connection_cache_ms` old: for submissions, whose commit checks again. */
    submissionTarget: Loader<ConnectionRef>;
    operation: Loader<OperationRow>;
    subscription: Loader<SubscriptionRow>;
  };
  drain: Drain;
}

/** A checked request; `R`, `B`, `Q`: resource, body and query, as its route declares them. */
export interface Call<R, B, Q> extends Services {
  /** Must not be read on routes without a key. */
  key: UsableKey;
  params: Record<string, string>;
  headers: Readonly<Record<RequestHeader, string>>;
  prefer: Preferences;
  resource: R;
  body: B;
  query: Q;
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
 * One route, as data: the table of them drives routing, the checks and the reference. `serve` decides the order in which
 * its parts are checked.
 */
export interface Route<R = unknown, B = unknown, Q = unknown> {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Segments in braces are parameters. */
  path: string;
  /** One line for the reference. */
  summary: string;
  /** All of them are needed; `none`: the route needs no key. */
  scopes: readonly Scope[] | 'none';
  errors?: ErrorStyle;
  body: BodySpec<B>;
  /** Absent: no query is taken. */
  query?: { numbers: readonly string[]; validate: Validator<Q>; schema: SchemaOf<Q> };
  /** Request headers of its own, for the reference. */
  headers?: DeclaredHeaders;
  /** Its answers for the reference; the errors of the checks are known without it. */
  answers: DeclaredAnswers;
  /** Codes that its handler alone refuses with, for the reference. */
  refusals?: readonly HttpErrorCode[];
  /** True when its request would be refused with 503 `overloaded` whatever it holds: then it is, before any other check. */
  crowded?(params: Record<string, string>, system: ActorSystem): boolean;
  /** The resource the path names, within the key's workspace; undefined is answered 404. */
  resource?(lookup: Lookup): Promise<R | undefined>;
  /** Scopes that depend on the body (as sent, not yet validated). */
  bodyScopes?(body: JsonObject): readonly Scope[];
  handle(call: Call<R, B, Q>): Promise<Answer>;
}

/** Checks a route's types where it is declared and erases them: the routes of one table have different types. */
export function route<R = undefined, B = undefined, Q = undefined>(declared: Route<R, B, Q>): Route {
  return declared as Route<unknown, unknown, unknown>;
}
