import { HttpError } from '../../storage/model/errors.js';
import type { Scope } from '../../storage/model/records.js';
import type { UsableKey } from '../../storage/workspaces/keys.js';
import type { Answer } from './answer.js';
import { expectNoBody, readJson } from './body.js';
import type { HttpExchange } from './exchange.js';
import { check } from './fields.js';
import type { KeyAuthenticator } from './keys.js';
import { parsePrefer } from './prefer.js';
import { expectNoQuery, parseQuery } from './query.js';
import type { RateLimit } from './rate-limit.js';
import type { Route, Services } from './route.js';
import type { Match } from './router.js';
import type { WorkspaceRequests } from './workspace-requests.js';

/** The checks that a request passes before its route's own. */
export interface Checks {
  gateway: ((headers: HttpExchange['headers']) => void) | undefined;
  keys: KeyAuthenticator;
  rateLimit: RateLimit | undefined;
  workspaceRequests: WorkspaceRequests;
}

/**
 * Checks a request in the one order (HTTP-1) and has its route handle it. Throws HttpError for the first check that
 * fails; null when the client went away meanwhile.
 *
 *   gateway 401, User-Agent 403 → key 401 → rate 429 → workspace's requests 503 → route 404, method 405 → scope 403 → resource 404
 *   → size 413 → media type 415 → JSON 400 → social:send 403 → query, body and input 400 → idempotency and state (handler)
 */
export async function serve(
  exchange: HttpExchange,
  match: Match | undefined,
  checks: Checks,
  services: Services,
): Promise<Answer | null> {
  checks.gateway?.(exchange.headers);
  if (!needsKey(exchange.path)) return serveRoute(exchange, match, NO_KEY, services);
  const key = await checks.keys.authenticate(exchange.headers.authorization, () => exchange.remoteAddress());
  checks.rateLimit?.(key.id);
  return checks.workspaceRequests(key.workspace_id, () => serveRoute(exchange, match, key, services));
}

async function serveRoute(
  exchange: HttpExchange,
  match: Match | undefined,
  key: UsableKey,
  services: Services,
): Promise<Answer | null> {
  const route = findRoute(match, exchange.method);
  if (route.scopes !== 'none') requireScopes(key, route.scopes);
  const { params } = match as Match;
  const resource = route.resource && (await route.resource({ ...services, key, params }));
  if (route.resource && resource === undefined) throw new HttpError('not_found');

  const json = route.body.kind === 'ignored' ? undefined : await readJson(exchange);
  if (json === null) return null;
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
    headers: exchange.headers,
    prefer: parsePrefer(exchange.headers.prefer),
    resource,
    body,
    query,
    gone: () => exchange.gone(),
  });
}

/** In place of a key on paths that need none; has no workspace and no scope. */
const NO_KEY: UsableKey = { id: '', workspace_id: '', scopes: [] };

/** Every path under /v1, with and without a route. */
function needsKey(path: string): boolean {
  return path === '/v1' || path.startsWith('/v1/');
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

function requireScopes(key: UsableKey, scopes: readonly Scope[]): void {
  const missing = scopes.filter((scope) => !key.scopes.includes(scope));
  if (missing.length > 0) throw new HttpError('forbidden', `the key lacks the scope ${missing.join(', ')}`);
}

function takeQuery(route: Route, query: string): unknown {
  if (route.query) return check(route.query.validate, parseQuery(query, route.query.numbers), 'query');
  if (route.body.kind !== 'ignored') expectNoQuery(query);
  return undefined;
}
