import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';
import type { CallbackPolicy } from '../actors/deliveries/callback-guard.js';
import type { ActorSystem } from '../actors/system.js';
import { findConnectionRefs, findConnections } from '../storage/connections/connections.js';
import { Deadline } from '../storage/deadline.js';
import { findSubscriptions } from '../storage/deliveries/subscriptions.js';
import type { Logger } from '../storage/log.js';
import { findOperations } from '../storage/operations/operations.js';
import type { Database } from '../storage/postgres/database.js';
import type { KeyRing } from '../storage/secrets/encryption.js';
import { BodyMemory } from './http/body-memory.js';
import { ConnectionCount } from './http/connection-count.js';
import { type Drain, drainSwitch } from './http/drain.js';
import { type GatewayAccess, gatewayCheck } from './http/gateway.js';
import { keyAuthenticator } from './http/keys.js';
import { LIMITS } from './http/limits.js';
import { rememberingLoader, rowLoader } from './http/loader.js';
import { withPromptSubmissions } from './http/prompt-submissions.js';
import { rateLimit } from './http/rate-limit.js';
import { requestLoad } from './http/request-load.js';
import type { Services } from './http/route.js';
import { router } from './http/router.js';
import type { Checks } from './http/serve.js';
import { listen } from './http/socket.js';
import { workspaceRequests } from './http/workspace-requests.js';
import type { AnsweredRequest } from './metrics/request-metric.js';
import { responder } from './responder.js';
import { routes } from './table.js';

export interface EdgeOptions {
  host: string;
  /** 0 takes a free one. */
  port: number;
  db: Database;
  /** For what must not wait for requests: health. Absent: `db`. */
  control?: Database;
  ring: KeyRing;
  system: ActorSystem;
  log: Logger;
  /** Set: the service is hosted behind this gateway, and every request must carry its headers (HTTP-11). */
  gateway?: GatewayAccess;
  /** Requests per second and key; absent: no limit (HTTP-12). */
  rateLimitPerSecond?: number;
  /** Requests of one workspace that may be under way; absent: no limit (HTTP-13). */
  workspaceRequests?: number;
  /** Open connections: those past it are closed as they come; absent: no limit. */
  connections?: number;
  /** Memory for the bodies of all requests; absent: no limit. */
  bodyMemoryMib?: number;
  callbackPolicy: CallbackPolicy;
  /** Gets every answered request, for metrics. */
  onAnswered?: (request: AnsweredRequest) => void;
  /** Domains of the provider that `file.download` may reach; absent: checked when the operation runs. */
  providerDomains?: readonly string[];
}

export interface Edge {
  port: number;
  /**
   * From now on health and submissions answer 503 and every answer closes its connection (HTTP-14); resolves when
   * every request under way is answered, or after `drain_ms`: a client that reads slowly, or not at all, holds nobody up. Requests
   * are still taken, so that a balancer sees the 503.
   */
  drain(): Promise<void>;
  /**
   * Stops listening, answers what is on its way or under way, for at most `parting_answers_ms`, and closes every connection. Call
   * `drain` first.
   */
  close(): Promise<void>;
}

/** Starts the HTTP edge. Rejects with one Error when the port is in use. */
export async function startEdge(options: EdgeOptions): Promise<Edge> {
  const { db, log } = options;
  const drain = drainSwitch();
  const checks: Checks = {
    gateway: options.gateway && gatewayCheck(options.gateway),
    keys: keyAuthenticator(db, log),
    rateLimit: options.rateLimitPerSecond ? rateLimit(options.rateLimitPerSecond) : undefined,
    workspaceRequests: workspaceRequests(options.workspaceRequests ?? Number.POSITIVE_INFINITY),
  };
  const services = servicesOf(options, drain);
  const requests = requestLoad();
  const bodies = new BodyMemory((options.bodyMemoryMib ?? Number.POSITIVE_INFINITY) * 2 ** 20);
  const { onAnswered } = options;
  const respond = responder({ match: router(routes), checks, services, requests, bodies, log, onAnswered });
  const underWay = new Set<Promise<void>>();
  const connections = new ConnectionCount(options.connections ?? Number.POSITIVE_INFINITY, log);
  const listening = await listen(options.host, options.port, connections, (exchange) => {
    requests.begun();
    const work = respond(exchange).finally(() => {
      underWay.delete(work);
      requests.ended();
    });
    underWay.add(work);
  });
  const answered = async () => {
    await Promise.allSettled([...underWay]);
  };
  const idle = async () => {
    while (underWay.size > 0) await answered();
  };
  return {
    port: listening.port,
    drain() {
      drain.begin();
      return Deadline.within(LIMITS.drain_ms, answered()).catch(() => {});
    },
    async close() {
      drain.begin();
      // Just after the sockets were looked at: who has connected and was not let in by then would be reset.
      await turn();
      listening.refuse();
      await delay(LIMITS.parting_ms);
      await Deadline.within(LIMITS.parting_answers_ms, idle()).catch(() => {});
      listening.close();
      await answered();
      requests.close();
      await checks.keys.close();
    },
  };
}

/** What every handler may use. */
function servicesOf(options: EdgeOptions, drain: Drain): Services {
  const { db } = options;
  const connectionRef = rowLoader((ids) => findConnectionRefs(db, ids));
  return {
    db,
    control: options.control ?? db,
    ring: options.ring,
    system: withPromptSubmissions(options.system, options.control ?? db),
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
}
