import { v4 as uuidv4 } from 'uuid';
import type { Logger } from '../storage/log.js';
import { HttpError } from '../storage/model/errors.js';
import { type Answer, errorAnswer, isPassing, KeyedError } from './http/answer.js';
import type { HttpExchange } from './http/exchange.js';
import { isPrintableKey } from './http/fields.js';
import { LIMITS } from './http/limits.js';
import type { Route, Services } from './http/route.js';
import type { Match } from './http/router.js';
import { type Checks, serve } from './http/serve.js';
import type { AnsweredRequest } from './metrics/request-metric.js';

export interface ResponderOptions {
  match(path: string): Match | undefined;
  checks: Checks;
  services: Services;
  log: Logger;
  /** Gets every answered request, for metrics. */
  onAnswered: ((request: AnsweredRequest) => void) | undefined;
}

/**
 * Answers one request: gives it its id, has it checked and handled, turns what is thrown into its answer, and logs and
 * counts it once. Never rejects for what a route throws. While the edge drains, every answer closes its connection (HTTP-14).
 */
export function responder(options: ResponderOptions): (exchange: HttpExchange) => Promise<void> {
  const { match, checks, services, log } = options;
  return async (exchange) => {
    const startedAt = performance.now();
    const sentId = exchange.headers['x-request-id'];
    const requestId = isPrintableKey(sentId) ? sentId : uuidv4();
    const matched = match(exchange.path);
    const route = matched?.routes.get(exchange.method) ?? matched?.routes.values().next().value;
    exchange.receive(route?.body.kind === 'json' ? route.body.limit_bytes : LIMITS.body_bytes);
    const headers: Record<string, string> = { 'X-Request-Id': requestId };
    if (exchange.path.startsWith('/v1')) headers['Cache-Control'] = 'no-store';
    const finish = async (answer: Answer | null) => {
      if (answer) await exchange.send(answer, headers, services.drain.draining);
      logRequest(options, exchange, route, requestId, startedAt, answer?.status ?? 'aborted');
    };
    try {
      await finish(await serve(exchange, matched, checks, services));
    } catch (error) {
      const cause = error instanceof KeyedError ? error.cause : error;
      // An outage has lines of its own: it is not to be told once a request.
      const level = isPassing(cause) ? 'debug' : 'error';
      if (!(cause instanceof HttpError))
        log[level]({ err: cause, request_id: requestId, route: route?.path }, 'request failed');
      await finish(errorAnswer(error, route?.errors ?? 'plain', requestId));
    }
  };
}

/** One line a request, and one observation. The route's pattern, not the path: a path can have a username in it. */
function logRequest(
  { log, onAnswered }: ResponderOptions,
  { method }: HttpExchange,
  route: Route | undefined,
  request_id: string,
  startedAt: number,
  status: number | 'aborted',
): void {
  const elapsed_ms = performance.now() - startedAt;
  const pattern = route?.path ?? null;
  onAnswered?.({ method, route: pattern, status, seconds: elapsed_ms / 1000 });
  if (!log.isLevelEnabled('debug')) return;
  log.debug({ request_id, method, route: pattern, status, duration_ms: Math.round(elapsed_ms * 10) / 10 }, 'request');
}
