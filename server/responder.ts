import { randomUUID } from 'node:crypto';
import type { Logger } from '../storage/log/log.js';
import { HttpError } from '../storage/model/errors.js';
import { parseTraceparent, traceIdOf } from '../storage/model/traceparent.js';
import type { SpanAttributes, Tracing } from '../storage/tracing/tracing.js';
import type { UsableKey } from '../storage/workspaces/keys.js';
import { type Checks, UNREAD_GATES } from './http/admission/gates.js';
import type { RefusalPace } from './http/admission/refusal-pace.js';
import { AdmittedRequest, routeOf } from './http/admission/request.js';
import type { RequestLoad } from './http/admission/request-load.js';
import { serve } from './http/admission/serve.js';
import { type Answer, errorAnswer, isPassing, KeyedError } from './http/answer.js';
import { isPrintableKey, pathId } from './http/fields.js';
import type { ClientAddress } from './http/identity/client-address.js';
import { LIMITS } from './http/limits.js';
import { parsePrefer } from './http/prefer.js';
import { RequestContext } from './http/request-context.js';
import type { Route, Services } from './http/route.js';
import type { Match } from './http/router.js';
import type { BodyMemory } from './http/wire/body-memory.js';
import type { HttpExchange } from './http/wire/exchange.js';
import type { AnsweredRequest } from './metrics/request-metric.js';

export interface ResponderOptions {
  match(path: string): Match | undefined;
  checks: Checks;
  /** Where a request comes from. */
  address: ClientAddress;
  services: Services;
  requests: RequestLoad;
  bodies: BodyMemory;
  refusals: RefusalPace;
  log: Logger;
  /** How long before its end a key's answers tell of it. */
  keyExpiryWarning_ms: number;
  /** Absent: no spans are made. */
  tracing: Tracing | undefined;
  /** Gets every answered request, for metrics. */
  onAnswered: ((request: AnsweredRequest) => void) | undefined;
}

/**
 * Answers one request: gives it its id, has it checked and handled, turns what is thrown into its answer, and logs and
 * counts it once. Never rejects for what a route throws. While the edge drains, every answer closes its connection (HTTP-14).
 */
export function responder(options: ResponderOptions): (exchange: HttpExchange) => Promise<void> {
  const { match, requests, services } = options;
  const unreadChecks = { load: requests, system: services.system };
  return (exchange) => {
    const matched = match(exchange.path);
    const route = matched && (routeOf(matched, exchange.method) ?? matched.routes.values().next().value);
    const request = {
      ...{ exchange, matched, route },
      ...{ context: new RequestContext(requestIdOf(exchange)), startedAt: performance.now(), longPoll: false },
    };
    try {
      const unread = { path: exchange.path, route, exchange, params: matched?.params ?? {} };
      for (const gate of UNREAD_GATES) if (gate.when(unread)) gate.take(unread, unreadChecks);
    } catch (error) {
      return refuse(options, request, error as HttpError);
    }
    return answer(options, request);
  };
}

/** One request on its way. */
interface Request {
  exchange: HttpExchange;
  matched: Match | undefined;
  /** What its path is for; of another method where its own has no route. */
  route: Route | undefined;
  context: RequestContext;
  startedAt: number;
  /** It waits for an operation: how long it takes says nothing of the service. */
  longPoll: boolean;
}

/** The caller's id of its request, or a new one. */
export function requestIdOf(exchange: HttpExchange): string {
  const sent = exchange.header('x-request-id');
  return isPrintableKey(sent) ? sent : randomUUID();
}

/** What every answer carries. */
export function answerHeaders({ path }: HttpExchange, requestId: string): Record<string, string> {
  const headers: Record<string, string> = { 'X-Request-Id': requestId, 'X-Content-Type-Options': 'nosniff' };
  if (path.startsWith('/v1')) headers['Cache-Control'] = 'no-store';
  return headers;
}

/** Of a key that expires soon, when it does. */
function keyHeaders(key: UsableKey | undefined, { keyExpiryWarning_ms }: ResponderOptions): Record<string, string> {
  const end = key?.expires_at;
  return end && end.getTime() - Date.now() < keyExpiryWarning_ms ? { 'Key-Expires': end.toISOString() } : {};
}

/** Refuses a request of which nothing was read, at as little cost as can be: what was taken in needs the rest. */
function refuse(options: ResponderOptions, request: Request, error: HttpError): Promise<void> {
  request.exchange.receive(0, options.bodies);
  return finish(options, request, errorAnswer(error, request.route?.errors ?? 'plain', request.context.requestId));
}

async function answer(options: ResponderOptions, request: Request): Promise<void> {
  const { checks, log, tracing } = options;
  const { exchange, matched, route, context } = request;
  const { requestId } = context;
  const { prefer, traceparent } = exchange.headers; // all are read while they can be
  context.traceparent = parseTraceparent(traceparent);
  request.longPoll = route?.waits?.(parsePrefer(prefer)) === true;
  if (tracing && !route?.routine) beginSpan(tracing, context, route);
  exchange.receive(route?.body.kind === 'json' ? route.body.limit_bytes : LIMITS.body_bytes, options.bodies);
  try {
    const admitted = new AdmittedRequest(exchange, matched, context, options);
    await serve(admitted, checks, (answer) => finish(options, request, answer));
  } catch (error) {
    const cause = error instanceof KeyedError ? error.cause : error;
    // An outage has lines of its own: it is not to be told once a request.
    const level = isPassing(cause) ? 'debug' : 'error';
    if (!(cause instanceof HttpError))
      log[level]({ err: cause, request_id: requestId, route: route?.path }, 'request failed');
    if (cause instanceof HttpError && isPaced(request, cause)) await options.refusals.hold();
    await finish(options, request, errorAnswer(error, route?.errors ?? 'plain', requestId));
  } finally {
    exchange.release();
  }
}

function beginSpan(tracing: Tracing, context: RequestContext, route: Route | undefined): void {
  context.span = tracing.begin(route ? `${route.method} ${route.path}` : 'HTTP', 'server', context.traceparent);
  context.traceparent = context.span.traceparent;
}

/** Sends the answer, null when the client went away, and logs and counts the request. */
async function finish(options: ResponderOptions, request: Request, answer: Answer | null): Promise<void> {
  const { exchange, context } = request;
  if (answer) {
    const headers = {
      ...answerHeaders(exchange, context.requestId),
      ...keyHeaders(context.key, options),
      ...context.rateHeaders,
    };
    countChange(options.services, request, answer);
    await exchange.send(answer, headers, options.services.drain.draining);
  }
  logRequest(options, request, answer);
}

/** What a request has changed is told to who watches it (HTTP-29). */
function countChange({ tally }: Services, { route, context }: Request, { status }: Answer): void {
  if (route?.changes && status < 300 && context.key) tally.count(context.key.workspace_id, route.changes);
}

/** Whether its client could ask again at once and as often as it likes. */
function isPaced({ context, route }: Request, { code }: HttpError): boolean {
  return (!context.key && !route?.probe) || code === 'overloaded' || code === 'rate_limited';
}

/** One line a request, and one observation. */
function logRequest(
  { services: { lines }, onAnswered }: ResponderOptions,
  request: Request,
  answer: Answer | null,
): void {
  const { matched, route, context, startedAt, longPoll } = request;
  const { method } = request.exchange;
  const elapsed_ms = performance.now() - startedAt;
  const pattern = route?.path ?? null;
  const status = answer?.status ?? 'aborted';
  onAnswered?.({ method, route: pattern, status, seconds: elapsed_ms / 1000, longPoll });
  context.span?.end(spanAttributes(request, answer), status === 'aborted' || status >= 500);
  const { requestId, traceparent, key } = context;
  const level = route?.routine ? 'debug' : 'info';
  if (!lines.wants(level, requestId, status)) return;
  lines.request(level, {
    request_id: requestId,
    trace_id: traceparent === null ? undefined : traceIdOf(traceparent),
    method,
    route: pattern,
    status,
    duration_ms: Math.round(elapsed_ms * 10) / 10,
    key_id: key?.kind === 'key' ? key.id : undefined,
    operator_id: key?.kind === 'operator' ? key.id : undefined,
    workspace_id: workspaceOf(key),
    // What stands in a path may be anything; what is no id is not repeated.
    connection_id: context.connectionId ?? pathId(matched?.params.connection_id),
    operation_id: context.operationId ?? pathId(matched?.params.operation_id),
    error_code: answer?.errorCode,
  });
}

/** An operator is in none until a request names one. */
function workspaceOf(key: UsableKey | undefined): string | undefined {
  return key?.workspace_id === key?.id ? undefined : key?.workspace_id;
}

function spanAttributes({ exchange, route, context }: Request, answer: Answer | null): SpanAttributes {
  return {
    'http.request.method': exchange.method,
    'http.route': route?.path,
    'http.response.status_code': answer?.status,
    'error.type': answer?.errorCode,
    'request.id': context.requestId,
    'workspace.id': workspaceOf(context.key),
    'operation.id': context.operationId,
  };
}
