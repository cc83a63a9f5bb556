import { HttpError } from '../../storage/model/errors.js';
import type { Right } from '../../storage/model/records.js';
import type { UsableKey } from '../../storage/workspaces/keys.js';
import { type Answer, isMade } from './answer.js';
import { auditOf } from './audit.js';
import { expectNoBody, parseJson, readBody } from './body.js';
import type { Callers, Sender } from './callers.js';
import type { ClientAddress } from './client-address.js';
import type { HttpExchange } from './exchange.js';
import { check } from './fields.js';
import type { GatewayCheck } from './gateway.js';
import type { LargeBodies } from './large-bodies.js';
import { parsePrefer } from './prefer.js';
import { expectNoQuery, parseQuery } from './query.js';
import type { RateLimit } from './rate-limit.js';
import type { RequestContext } from './request-context.js';
import type { RequestKind } from './request-pace.js';
import type { Route, Services } from './route.js';
import type { Match } from './router.js';
import { type CountedWorkspace, exceeded, rateHeaders, takeOf, type WorkspaceRates } from './workspace-rates.js';
import type { Payer, WorkspaceRequests } from './workspace-requests.js';

/** The checks that a request passes before its route's own. */
export interface Checks {
  gateway: GatewayCheck | undefined;
  callers: Callers;
  address: ClientAddress;
  rateLimit: RateLimit | undefined;
  workspaceRates: WorkspaceRates;
  workspaceRequests: WorkspaceRequests;
  largeBodies: LargeBodies;
}

/**
 * Checks a request in the one order (HTTP-1), has its route handle it and hands the answer to `send`, null when the client went
 * away meanwhile. Notes in `context` whose it is. Throws HttpError for the first check that fails. The request is under way until `send` resolves.
 *
 *   gateway 401, User-Agent 403 → key 401, session 403 → rate 429 → operator's workspace 400 → workspace's requests 503 → route 404, method 405 → scope 403 → resource 404
 *   → size 413 → media type 415 → JSON 400 → social:send 403 → query, body and input 400 → idempotency and state (handler)
 */
export async function serve(
  exchange: HttpExchange,
  match: Match | undefined,
  context: RequestContext,
  checks: Checks,
  services: Services,
  send: (answer: Answer | null) => Promise<void>,
): Promise<void> {
  const route = match && routeOf(match, exchange.method);
  if (route?.probe !== 'past the gateway') checks.gateway?.(exchange.headers, route?.probe === undefined);
  const sender = senderOf(exchange, checks.address);
  const request = { exchange, match, sender, context };
  const kind = kindOf(exchange, match);
  // Probes have no share: they are answered whatever else there is to do.
  if (route?.probe) return send(await serveRoute({ ...request, key: NO_KEY }, checks, services));
  const { key, payer } = needsKey(exchange.path) ? await keyOf(request, route, checks) : keyless(route);
  return checks.workspaceRequests(payer, kind, async ({ db, sending, made, parked }) => {
    if (exchange.aborted) return send(null); // while it waited for its turn
    const own = { ...services, db, parked };
    if (payer.keyless)
      own.asWorkspace = (workspace, work) => {
        count(workspace, false, context, checks);
        return parked(checks.workspaceRequests(workspace, kind, work));
      };
    const answer = await serveRoute({ ...request, key }, checks, own);
    const body = answer?.body ?? null;
    if (!isMade(body)) return sending(body?.length ?? 0, () => send(answer));
    const bytes = body.hurried && exchange.method !== 'HEAD' ? (body.bytes ?? 0) : 0;
    return sending(bytes, () => send({ ...(answer as Answer), body: made(body) }));
  });
}

/** A request whose sender is known. */
interface SentRequest {
  exchange: HttpExchange;
  match: Match | undefined;
  sender: Sender;
  context: RequestContext;
}

interface CheckedRequest extends SentRequest {
  key: UsableKey;
}

/** The key of a request, counted in the rates of its workspace. Throws for one that may not be used. */
async function keyOf(
  { sender, context }: SentRequest,
  route: Route | undefined,
  checks: Checks,
): Promise<{ key: UsableKey; payer: Payer }> {
  const caller = await checks.callers.callerOf(sender);
  context.key = caller;
  checks.rateLimit?.(caller.id);
  count(caller, route?.submits === true, context, checks);
  const key = await checks.callers.inWorkspace(caller, sender);
  context.key = key;
  return { key, payer: key };
}

/** Counts a request in the rates of its workspace; throws 429 past one. */
function count(
  workspace: CountedWorkspace,
  submits: boolean,
  context: RequestContext,
  { workspaceRates }: Checks,
): void {
  const counted = workspaceRates.count(workspace, submits);
  if (!counted) return;
  const empty = takeOf(counted);
  context.rateHeaders = rateHeaders(counted); // as it stands now: a refusal that is held back says what it was refused for
  if (empty) throw exceeded(empty);
}

/** What never changes has a share of its own: who asks for it is not held up by those who try links and keys. */
function keyless(route: Route | undefined): { key: UsableKey; payer: Payer } {
  return { key: NO_KEY, payer: route?.body.kind === 'ignored' ? PAGES : STRANGERS };
}

const PAGES: Payer = { id: '', workspace_id: 'pages', keyless: true };
const STRANGERS: Payer = { id: '', workspace_id: 'strangers', keyless: true };

function senderOf(exchange: HttpExchange, clientAddress: ClientAddress): Sender {
  const { method, path, headers } = exchange;
  const address = () => clientAddress({ peer: exchange.remoteAddress(), forwardedFor: headers['x-forwarded-for'] });
  return { method, path, headers, address };
}

async function serveRoute(
  { exchange, match, sender, key, context }: CheckedRequest,
  { largeBodies }: Checks,
  services: Services,
): Promise<Answer | null> {
  const route = findRoute(match, exchange.method);
  if (route.scopes !== 'none') requireScopes(key, route.scopes);
  const { params } = match as Match;
  const resource = route.resource && (await route.resource({ ...services, key, params }));
  if (route.resource && resource === undefined) throw new HttpError('not_found');

  const coming = route.body.kind === 'ignored' ? undefined : exchange.wantBody(key.workspace_id);
  if (coming) await services.parked(coming);
  const bytes = route.body.kind === 'ignored' ? undefined : readBody(exchange);
  if (bytes === null) return null;
  const request = { exchange, route, params, resource, sender, key, context, bytes };
  return largeBodies.inTurn(key.workspace_id, bytes?.length ?? 0, services.parked, () => handle(request, services));
}

/** A request whose body has come. */
interface WholeRequest {
  exchange: HttpExchange;
  route: Route;
  params: Record<string, string>;
  resource: unknown;
  sender: Sender;
  key: UsableKey;
  context: RequestContext;
  bytes: Buffer | undefined;
}

async function handle(
  { exchange, route, params, resource, sender, key, context, bytes }: WholeRequest,
  services: Services,
): Promise<Answer> {
  const json = bytes && parseJson(bytes);
  if (route.body.kind === 'json' && json === undefined)
    throw new HttpError('invalid_json', 'a JSON object is required');
  if (json && route.bodyScopes) requireScopes(key, route.bodyScopes(json));
  const query = takeQuery(route, exchange.query);
  if (route.body.kind === 'none') expectNoBody(json);
  const body = route.body.kind === 'json' ? check(route.body.validate, json, 'body') : undefined;

  return route.handle({
    ...services,
    key,
    params,
    sender,
    audit: auditOf(route, { key, sender, requestId: context.requestId, db: services.db, reveals: services.reveals }),
    headers: exchange.headers,
    context,
    prefer: parsePrefer(exchange.headers.prefer),
    resource,
    body,
    query,
    body_bytes: bytes?.length ?? 0,
    gone: () => exchange.gone(),
  });
}

/** In place of a key on paths that need none; has no workspace and no scope. */
const NO_KEY: UsableKey = {
  kind: 'key',
  id: '',
  name: null,
  workspace_id: '',
  scopes: [],
  networks: null,
  expires_at: null,
  limits: null,
};

/** Every path under /v1, with and without a route. */
function needsKey(path: string): boolean {
  return path === '/v1' || path.startsWith('/v1/');
}

function kindOf({ method, declaredBytes: bytes }: HttpExchange, match: Match | undefined): RequestKind {
  const route = match && routeOf(match, method);
  return { name: route ? `${route.method} ${route.path}` : 'no route', bytes };
}

/** The route of a method; HEAD is answered by that of GET. */
export function routeOf(match: Match, method: string): Route | undefined {
  return match.routes.get(method === 'HEAD' ? 'GET' : method);
}

function findRoute(match: Match | undefined, method: string): Route {
  if (!match) throw new HttpError('not_found', 'there is no such route');
  const route = routeOf(match, method);
  if (route) return route;
  const allow = [...match.routes.keys()].flatMap((one) => (one === 'GET' ? ['GET', 'HEAD'] : [one])).join(', ');
  throw new HttpError('method_not_allowed', `this route takes ${allow}`, undefined, { Allow: allow });
}

function requireScopes(key: UsableKey, scopes: readonly Right[]): void {
  const missing = scopes.filter((scope) => !key.scopes.includes(scope));
  if (missing.length > 0) throw new HttpError('forbidden', `the key lacks the scope ${missing.join(', ')}`);
}

function takeQuery(route: Route, query: string): unknown {
  if (route.query) return check(route.query.validate, parseQuery(query, route.query.numbers), 'query');
  if (route.body.kind !== 'ignored') expectNoQuery(query);
  return undefined;
}
