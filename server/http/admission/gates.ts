import type { ActorSystem } from '../../../actors/system.js';
import type { HttpErrorCode } from '../../../storage/model/error-codes.js';
import { HttpError } from '../../../storage/model/errors.js';
import type { Right } from '../../../storage/model/records.js';
import type { UsableKey } from '../../../storage/workspaces/keys.js';
import { expectNoBody, parseJson, readBody } from '../body.js';
import { check } from '../fields.js';
import { type GatewayCheck, requireName } from '../gateway.js';
import type { Callers } from '../identity/callers.js';
import { expectNoQuery, parseQuery } from '../query.js';
import type { RateLimit } from '../rate-limit.js';
import type { HttpExchange } from '../wire/exchange.js';
import type { Ambiguity } from '../wire/request-headers.js';
import type { LargeBodies } from './large-bodies.js';
import type { ProbePace } from './probe-pace.js';
import type { AdmittedRequest, Destination } from './request.js';
import type { RequestLoad } from './request-load.js';
import { type CountedWorkspace, exceeded, rateHeaders, takeOf, type WorkspaceRates } from './workspace-rates.js';
import type { WorkspaceRequests } from './workspace-requests.js';

/** What the gates ask; absent: what is not configured lets everybody pass. */
export interface Checks {
  gateway: GatewayCheck | undefined;
  callers: Callers;
  rateLimit: RateLimit | undefined;
  workspaceRates: WorkspaceRates;
  workspaceRequests: WorkspaceRequests;
  largeBodies: LargeBodies;
  probePace: ProbePace;
}

/** One check of a request. */
export interface Gate<R extends Destination = AdmittedRequest, C = Checks> {
  name: string;
  /** What it refuses with; the reference lists that for each route before which it stands. */
  refuses: readonly HttpErrorCode[];
  /** Whether it stands in the way of such a request. */
  when(to: Destination): boolean;
  /** Passes the request, throws HttpError, or has it wait. */
  take(request: R, checks: C): void | Promise<void>;
}

/** Whoever watches the service is answered whatever else there is to do. */
const noProbe = ({ route }: Destination) => route?.probe === undefined;
/** Every path under /v1, with and without a route. */
const needsKey = ({ path }: Destination) => path === '/v1' || path.startsWith('/v1/');
const takesInput = ({ route }: Destination) => route !== undefined && route.body.kind !== 'ignored';

/** A request of which nothing was read yet. `route` is what its path is for, of another method where its own has no route. */
export interface UnreadRequest extends Destination {
  exchange: Pick<HttpExchange, 'ambiguous'>;
  params: Record<string, string>;
}

/** What the gates of unread requests ask. */
export interface UnreadChecks {
  load: Pick<RequestLoad, 'behind'>;
  system: ActorSystem;
}

/** The checks before anything is read of a request, or done for it: they cost as little as can be, and refuse without a wait. */
export const UNREAD_GATES: readonly Gate<UnreadRequest, UnreadChecks>[] = [
  {
    name: 'load of the node (HTTP-13)',
    refuses: ['overloaded'],
    when: noProbe,
    take(_, { load }) {
      if (load.behind) throw OVERLOADED;
    },
  },
  {
    name: 'room of the connection (HTTP-13)',
    refuses: ['overloaded'],
    when: ({ route }) => route?.crowded !== undefined,
    take({ route, params }, { system }) {
      if (route?.crowded?.(params, system)) throw OVERLOADED;
    },
  },
  {
    name: 'one meaning of the head',
    refuses: ['validation_error'],
    when: () => true,
    take({ exchange: { ambiguous } }) {
      if (ambiguous) throw ambiguity(ambiguous);
    },
  },
];

/**
 * The checks before the handler of a route, in their one order (HTTP-1). A request that fails one is answered for that one; the handler then checks
 * idempotency and state.
 */
export const GATES: readonly Gate[] = [
  {
    name: 'pace of probes (HTTP-13)',
    refuses: [],
    when: ({ route }) => route?.probe !== undefined,
    take: (_, { probePace }) => probePace.hold(),
  },
  {
    name: 'gateway (HTTP-11)',
    refuses: ['gateway_unauthorized'],
    when: ({ route }) => route?.probe !== 'past the gateway',
    take: ({ exchange }, { gateway }) => gateway?.(exchange.headers),
  },
  {
    name: 'name of the client (HTTP-11)',
    refuses: ['user_agent_required'],
    when: noProbe,
    take: ({ exchange }, { gateway }) => {
      if (gateway) requireName(exchange.headers);
    },
  },
  {
    name: 'key, or session of the console (HTTP-23, HTTP-24)',
    refuses: ['unauthorized', 'network_not_allowed', 'cross_site', 'rate_limited', 'unavailable'],
    when: needsKey,
    async take(request, { callers }) {
      request.key = await callers.callerOf(request.sender);
      request.context.key = request.key;
    },
  },
  {
    name: 'rate of the key (HTTP-12)',
    refuses: ['rate_limited'],
    when: needsKey,
    take: ({ key }, { rateLimit }) => rateLimit?.(key.id),
  },
  {
    name: 'rates of the workspace (HTTP-27)',
    refuses: ['rate_limited'],
    when: needsKey,
    take: (request, checks) => count(request.key, request.route?.submits === true, request, checks),
  },
  {
    name: 'workspace that an operator names',
    refuses: ['validation_error'],
    when: needsKey,
    take(request, { callers }) {
      if (request.key.kind === 'operator') return namedWorkspace(request, callers);
    },
  },
  {
    name: 'turn of the workspace (HTTP-13)',
    refuses: ['overloaded'],
    when: noProbe,
    take: takeTurn,
  },
  {
    name: 'route',
    refuses: ['not_found', 'method_not_allowed'],
    when: ({ route }) => route === undefined,
    take: refuseRoute,
  },
  {
    name: 'scopes',
    refuses: ['forbidden'],
    when: ({ route }) => route !== undefined && route.scopes !== 'none',
    take: ({ key, route }) => requireScopes(key, route?.scopes as readonly Right[]),
  },
  {
    name: 'resource that the path names',
    refuses: ['not_found'],
    when: ({ route }) => route?.resource !== undefined,
    async take(request) {
      const { route, key, params, services } = request;
      request.resource = await route?.resource?.({ key, params, db: services.db, load: services.load });
      if (request.resource === undefined) throw new HttpError('not_found');
    },
  },
  {
    name: 'body, whole (HTTP-5, HTTP-10)',
    refuses: ['body_too_large', 'unsupported_media_type', 'overloaded'],
    when: takesInput,
    take(request) {
      const { exchange, key, services } = request;
      const coming = exchange.wantBody(key.workspace_id);
      if (coming) return services.parked(coming).then(() => takeBody(request));
      takeBody(request);
    },
  },
  {
    name: 'turn of a large body (HTTP-10)',
    refuses: ['overloaded'],
    when: takesInput,
    take(request, { largeBodies }) {
      const turn = largeBodies.turn(request.key.workspace_id, request.bytes?.length ?? 0, request.services.parked);
      return turn?.then((release) => {
        request.releaseTurn = release;
      });
    },
  },
  {
    name: 'JSON (HTTP-4)',
    refuses: ['invalid_json'],
    when: takesInput,
    take(request) {
      request.json = request.bytes && parseJson(request.bytes);
      if (request.route?.body.kind === 'json' && request.json === undefined)
        throw new HttpError('invalid_json', 'a JSON object is required');
    },
  },
  {
    name: 'scopes that the body needs',
    refuses: ['forbidden'],
    when: ({ route }) => route?.bodyScopes !== undefined,
    take({ key, route, json }) {
      if (json && route?.bodyScopes) requireScopes(key, route.bodyScopes(json));
    },
  },
  {
    name: 'query (HTTP-6)',
    refuses: ['validation_error'],
    when: ({ route }) => route !== undefined && (route.query !== undefined || route.body.kind !== 'ignored'),
    take(request) {
      const { query } = request.exchange;
      const declared = request.route?.query;
      if (declared) request.query = check(declared.validate, parseQuery(query, declared.numbers), 'query');
      else expectNoQuery(query);
    },
  },
  {
    name: 'fields of the body (HTTP-6, HTTP-7)',
    refuses: ['validation_error'],
    when: takesInput,
    take(request) {
      const { json, route } = request;
      if (route?.body.kind === 'none') expectNoBody(json);
      else if (route?.body.kind === 'json') request.body = check(route.body.validate, json, 'body');
    },
  },
];

/** Made once: what refuses must cost little, and a stack costs most of an error. */
const OVERLOADED = new HttpError('overloaded', 'too many requests at once');

/** Its connection ends with the answer: what comes next on it may be a part of this request. */
function ambiguity({ header, message }: Ambiguity): HttpError {
  return new HttpError('validation_error', message, [{ path: `headers.${header}`, expected: 'one meaning' }]);
}

/** Counts a request in the rates of its workspace; throws 429 past one. */
function count(
  workspace: CountedWorkspace,
  submits: boolean,
  { context }: AdmittedRequest,
  { workspaceRates }: Checks,
): void {
  const counted = workspaceRates.count(workspace, submits);
  if (!counted) return;
  const empty = takeOf(counted);
  context.rateHeaders = rateHeaders(counted); // as it stands now: a refusal that is held back says what it was refused for
  if (empty) throw exceeded(empty);
}

async function namedWorkspace(request: AdmittedRequest, callers: Callers): Promise<void> {
  request.key = await callers.inWorkspace(request.key, request.sender);
  request.context.key = request.key;
}

async function takeTurn(request: AdmittedRequest, checks: Checks): Promise<void> {
  const { workspaceRequests } = checks;
  const { kind, payer, services } = request;
  const share = await workspaceRequests.begin(payer, kind);
  request.share = share;
  const { db, parked } = share;
  request.services = { ...services, db, parked };
  request.gone = request.exchange.aborted; // while it waited for its turn
  if (!payer.keyless) return;
  request.services.asWorkspace = (workspace, work) => {
    count(workspace, false, request, checks);
    return parked(workspaceRequests.run(workspace, kind, work));
  };
}

function refuseRoute({ match }: AdmittedRequest): void {
  if (!match) throw new HttpError('not_found', 'there is no such route');
  const allow = [...match.routes.keys()].flatMap((one) => (one === 'GET' ? ['GET', 'HEAD'] : [one])).join(', ');
  throw new HttpError('method_not_allowed', `this route takes ${allow}`, undefined, { Allow: allow });
}

function requireScopes(key: UsableKey, scopes: readonly Right[]): void {
  const missing = scopes.filter((scope) => !key.scopes.includes(scope));
  if (missing.length > 0) throw new HttpError('forbidden', `the key lacks the scope ${missing.join(', ')}`);
}

function takeBody(request: AdmittedRequest): void {
  const bytes = readBody(request.exchange);
  if (bytes === null) request.gone = true;
  else request.bytes = bytes;
}
