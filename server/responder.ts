import { v4 as uuidv4 } from 'uuid';
import type { Logger } from '../storage/log.js';
import { HttpError } from '../storage/model/errors.js';
import { type Answer, errorAnswer, isPassing, KeyedError } from './http/answer.js';

import type { BodyMemory } from './http/body-memory.js';
import type { HttpExchange } from './http/exchange.js';
import { isPrintableKey } from './http/fields.js';
import { LIMITS } from './http/limits.js';
import type { RequestLoad } from './http/request-load.js';
import type { Route, Services } from './http/route.js';
import type { Match } from './http/router.js';
import { type Checks, routeOf, serve } from './http/serve.js';
import type { AnsweredRequest } from './metrics/request-metric.js';

export interface ResponderOptions {
  match(path: string): Match | undefined;
  checks: Checks;
  services: Services;
  requests: RequestLoad;
  bodies: BodyMemory;
  log: Logger;
  /** Gets every answered request, for metrics. */
  onAnswered: ((request: AnsweredRequest) => void) | undefined;
}

/**
 * Answers one request: gives it its id, has it checked and handled, turns what is thrown into its answer, and logs and
 * counts it once. Never rejects for what a route throws. While the edge drains, every answer closes its connection (HTTP-14).
 */
export function responder(options: ResponderOptions): (exchange: HttpExchange) => Promise<void> {
  const { match, requests, services } = options;
  return (exchange) => {
    const matched = match(exchange.path);
    const route = matched && (routeOf(matched, exchange.method) ?? matched.routes.values().next().value);
    const request = { exchange, matched, route, requestId: requestIdOf(exchange), startedAt: performance.now() };
    const refused = route?.scopes !== 'none' && (requests.behind || isCrowded(route, matched, services));
    if (refused) return refuse(options, request, OVERLOADED);
    return exchange.ambiguous === undefined ? answer(options, request) : refuse(options, request, ambiguity(exchange));
  };
}

/** One request on its way. */
interface Request {
  exchange: HttpExchange;
  matched: Match | undefined;
  /** What its path is for; of another method where its own has no route. */
  route: Route | undefined;
  requestId: string;
  startedAt: number;
}

function requestIdOf(exchange: HttpExchange): string {
  const sent = exchange.header('x-request-id');
  return isPrintableKey(sent) ? sent : uuidv4();
}

/** Refuses a request of which nothing was read, at as little cost as can be: what was taken in needs the rest. */
function refuse(options: ResponderOptions, request: Request, error: HttpError): Promise<void> {
  request.exchange.receive(0, options.bodies);
  return finish(options, request, errorAnswer(error, request.route?.errors ?? 'plain', request.requestId));
}

async function answer(options: ResponderOptions, request: Request): Promise<void> {
  const { checks, services, log } = options;
  const { exchange, matched, route, requestId } = request;
  void exchange.headers; // read while they can be
  exchange.receive(route?.body.kind === 'json' ? route.body.limit_bytes : LIMITS.body_bytes, options.bodies);
  try {
    await finish(options, request, await serve(exchange, matched, checks, services));
  } catch (error) {
    const cause = error instanceof KeyedError ? error.cause : error;
    // An outage has lines of its own: it is not to be told once a request.
    const level = isPassing(cause) ? 'debug' : 'error';
    if (!(cause instanceof HttpError))
      log[level]({ err: cause, request_id: requestId, route: route?.path }, 'request failed');
    await finish(options, request, errorAnswer(error, route?.errors ?? 'plain', requestId));
  } finally {
    exchange.release();
  }
}

/** Sends the answer, null when the client went away, and logs and counts the request. */
async function finish(options: ResponderOptions, request: Request, answer: Answer | null): Promise<void> {
  const { exchange, requestId } = request;
  if (answer) {
    const headers: Record<string, string> = { 'X-Request-Id': requestId, 'X-Content-Type-Options': 'nosniff' };
    if (exchange.path.startsWith('/v1')) headers['Cache-Control'] = 'no-store';
    await exchange.send(answer, headers, options.services.drain.draining);
  }
  logRequest(options, request, answer?.status ?? 'aborted');
}

/** Made once: what refuses must cost little, and a stack costs most of an error. */
const OVERLOADED = new HttpError('overloaded', 'too many requests at once');

/** Its connection ends with the answer: what comes next on it may be a part of this request. */
function ambiguity(exchange: HttpExchange): HttpError {
  return new HttpError('validation_error', exchange.ambiguous);
}

function isCrowded(route: Route | undefined, matched: Match | undefined, { system }: Services): boolean {
  return route?.crowded?.(matched?.params ?? {}, system) === true;
}

/** One line a request, and one observation. The route's pattern, not the path: a path can have a username in it. */
function logRequest(
  { log, onAnswered }: ResponderOptions,
  { exchange: { method }, route, requestId, startedAt }: Request,
  status: number | 'aborted',
): void {
  const elapsed_ms = performance.now() - startedAt;
  const pattern = route?.path ?? null;
  onAnswered?.({ method, route: pattern, status, seconds: elapsed_ms / 1000 });
  if (!log.isLevelEnabled('debug')) return;
  const duration_ms = Math.round(elapsed_ms * 10) / 10;
  log.debug({ request_id: requestId, method, route: pattern, status, duration_ms }, 'request');
}
