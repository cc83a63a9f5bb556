import { v4 as uuidv4 } from 'uuid';
import type { CallbackPolicy } from '../actors/deliveries/callback-guard.js';
import type { ActorSystem } from '../actors/system.js';
import { findConnectionRefs, findConnections } from '../storage/connections/connections.js';
import { findSubscriptions } from '../storage/deliveries/subscriptions.js';
import type { Logger } from '../storage/log.js';
import { HttpError } from '../storage/model/errors.js';
import { findOperations } from '../storage/operations/operations.js';
import type { Database } from '../storage/postgres/database.js';
import type { KeyRing } from '../storage/secrets/encryption.js';
import { errorAnswer } from './http/answer.js';
import { isPrintableKey } from './http/fields.js';
import { type GatewayAccess, gatewayCheck } from './http/gateway.js';
import { keyAuthenticator } from './http/keys.js';
import { LIMITS } from './http/limits.js';
import { rememberingLoader, rowLoader } from './http/loader.js';
import { rateLimit } from './http/rate-limit.js';
import type { Drain, Route, Services } from './http/route.js';
import { router } from './http/router.js';
import { type Checks, serve } from './http/serve.js';
import { type Exchange, listen } from './http/socket.js';
import type { AnsweredRequest } from './metrics/request-metric.js';
import { routes } from './table.js';

export interface EdgeOptions {
  host: string;
  /** 0 takes a free one. */
  port: number;
  db: Database;
  ring: KeyRing;
  system: ActorSystem;
  log: Logger;
  /** Given: the service is hosted behind this gateway, and every request must carry its headers (HTTP-11). */
  gateway?: GatewayAccess;
  /** Requests per second and key; absent: no limit (HTTP-12). */
  rateLimitPerSecond?: number;
  callbackPolicy: CallbackPolicy;
  /** Told of every answered request, for metrics. */
  onAnswered?: (request: AnsweredRequest) => void;
  /** Domains of the provider that `file.download` may reach; absent: decided when the operation runs. */
  providerDomains?: readonly string[];
}

export interface Edge {
  port: number;
  /**
   * From now on health and submissions answer 503 and every answer closes its connection (HTTP-14); resolves when
   * every request under way is answered. Requests go on being taken, so that a balancer sees the 503.
   */
  drain(): Promise<void>;
  /** Stops listening and closes every connection. Call `drain` first. */
  close(): Promise<void>;
}

/** Starts the HTTP edge. Rejects with one Error when the port is in use. */
export async function startEdge(options: EdgeOptions): Promise<Edge> {
  const { db, log } = options;
  const drain = drainSwitch();
  const connectionRef = rowLoader((ids) => findConnectionRefs(db, ids));
  const services: Services = {
    db,
    ring: options.ring,
    system: options.system,
    callbackPolicy: options.callbackPolicy,
    providerDomains: options.providerDomains,
    load: {
      connection: rowLoader((ids) => findConnections(db, ids)),
      connectionRef,
      submissionTarget: rememberingLoader(
        connectionRef,
        LIMITS.connection_cache_connections,
        LIMITS.connection_cache_ms,
      ),
      operation: rowLoader((ids) => findOperations(db, ids)),
      subscription: rowLoader((ids) => findSubscriptions(db, ids)),
    },
    drain,
  };
  const checks: Checks = {
    gateway: options.gateway && gatewayCheck(options.gateway),
    keys: keyAuthenticator(db, log),
    rateLimit: options.rateLimitPerSecond ? rateLimit(options.rateLimitPerSecond) : undefined,
  };
  const match = router(routes);
  const underWay = new Set<Promise<void>>();

  /** One line a request, and one observation. The route's pattern, not the path: an account can be named by its username. */
  const tell = (
    { method }: Exchange,
    route: Route | undefined,
    request_id: string,
    startedAt: number,
    status: number | 'aborted',
  ) => {
    const elapsed_ms = performance.now() - startedAt;
    const pattern = route?.path ?? null;
    options.onAnswered?.({ method, route: pattern, status, seconds: elapsed_ms / 1000 });
    if (!log.isLevelEnabled('debug')) return;
    log.debug({ request_id, method, route: pattern, status, duration_ms: Math.round(elapsed_ms * 10) / 10 }, 'request');
  };

  const answer = async (exchange: Exchange) => {
    const startedAt = performance.now();
    const given = exchange.headers['x-request-id'];
    const requestId = isPrintableKey(given) ? given : uuidv4();
    const matched = match(exchange.path);
    const route = matched?.routes.get(exchange.method) ?? matched?.routes.values().next().value;
    exchange.receive(route?.body.kind === 'json' ? route.body.limit_bytes : LIMITS.body_bytes);
    const headers: Record<string, string> = { 'X-Request-Id': requestId };
    if (exchange.path.startsWith('/v1')) headers['Cache-Control'] = 'no-store';
    try {
      const answered = await serve(exchange, matched, checks, services);
      if (answered) await exchange.send(answered, headers, drain.draining);
      tell(exchange, route, requestId, startedAt, answered?.status ?? 'aborted');
    } catch (error) {
      const answered = errorAnswer(error, route?.errors ?? 'plain', requestId);
      if (!(error instanceof HttpError))
        log.error({ err: error, request_id: requestId, route: route?.path }, 'request failed');
      await exchange.send(answered, headers, drain.draining);
      tell(exchange, route, requestId, startedAt, answered.status);
    }
  };

  const listening = await listen(options.host, options.port, (exchange) => {
    const work = answer(exchange).finally(() => underWay.delete(work));
    underWay.add(work);
  });
  return {
    port: listening.port,
    async drain() {
      drain.begin();
      await Promise.allSettled([...underWay]);
    },
    async close() {
      drain.begin();
      listening.close();
      await Promise.allSettled([...underWay]);
      await checks.keys.close();
    },
  };
}

function drainSwitch(): Drain & { begin(): void } {
  let announce = () => {};
  const begun = new Promise<void>((resolve) => {
    announce = resolve;
  });
  const drain = {
    draining: false,
    begun,
    begin() {
      drain.draining = true;
      announce();
    },
  };
  return drain;
}
