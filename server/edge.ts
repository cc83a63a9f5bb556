import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';
import type { CallbackPolicy } from '../actors/deliveries/callback/callback-guard.js';
import { LIMITS as ACTOR_LIMITS } from '../actors/limits.js';
import type { ActorSystem } from '../actors/system.js';
import { findConnectionRefs, findConnections } from '../storage/connections/connections.js';
import { findSubscriptions } from '../storage/deliveries/subscriptions.js';
import { LIMITS as STORAGE_LIMITS } from '../storage/limits.js';
import { LogLines } from '../storage/log/log-lines.js';
import { findOperations } from '../storage/operations/operations.js';
import { Overview } from '../storage/overview/overview.js';
import type { Database } from '../storage/postgres/database.js';
import { Deadline } from '../storage/process/deadline.js';
import type { KeyRing } from '../storage/secrets/encryption.js';
import { operationEnds } from '../storage/tracing/ended-operations.js';
import type { Tracing } from '../storage/tracing/tracing.js';
import type { WorkspaceLimits } from '../storage/workspaces/limits.js';
import { type Front, type FrontOptions, openFront } from './front.js';
import type { Checks } from './http/admission/gates.js';
import { LargeBodies } from './http/admission/large-bodies.js';
import { AnswerLateness } from './http/admission/overload-signal.js';
import { ProbePace } from './http/admission/probe-pace.js';
import { withPromptSubmissions } from './http/admission/prompt-submissions.js';
import { RefusalPace } from './http/admission/refusal-pace.js';
import { requestLoad } from './http/admission/request-load.js';
import { RequestScheduler } from './http/admission/request-scheduler.js';
import { WorkspaceRates } from './http/admission/workspace-rates.js';
import { WorkspaceRequests } from './http/admission/workspace-requests.js';
import { WorkspaceStored } from './http/admission/workspace-stored.js';
import { type Drain, type DrainSwitch, drainSwitch } from './http/drain.js';
import { type GatewayAccess, gatewayCheck } from './http/gateway.js';
import { type Callers, callers } from './http/identity/callers.js';
import { clientAddress } from './http/identity/client-address.js';
import { type ConsoleCookie, consoleCookie } from './http/identity/console-cookie.js';
import { LIMITS } from './http/limits.js';
import { rememberingLoader, rowLoader } from './http/loader.js';
import { rateLimit } from './http/rate-limit.js';
import { Reveals } from './http/reveals.js';
import type { Services } from './http/route.js';
import { router } from './http/router.js';
import type { SubscriptionRules } from './http/subscription-rules.js';
import { BodyMemory } from './http/wire/body-memory.js';
import type { HttpExchange } from './http/wire/exchange.js';
import type { AnsweredRequest } from './metrics/request-metric.js';
import { responder } from './responder.js';
import { overviewAnswer } from './routes/operator/overview.js';
import { routes } from './table.js';

export interface EdgeOptions extends FrontOptions {
  db: Database;
  /** For what must not wait for requests: health. Absent: `db`. */
  control?: Database;
  /** Begun by `drain`, for others to see. Absent: one of its own. */
  drain?: DrainSwitch;
  ring: KeyRing;
  system: ActorSystem;
  /** The share of the lines of requests that went well; absent: all of them. */
  logSample?: number;
  /** Absent: no spans are made. */
  tracing?: Tracing | undefined;
  /** Set: the service is hosted behind this gateway, and every request must carry its headers (HTTP-11). */
  gateway?: GatewayAccess;
  /** Requests per second and key; absent: no limit (HTTP-12). */
  rateLimitPerSecond?: number;
  /** What a workspace may have that has no limit of its own, beside subscriptions, which have their bounds; absent: no limit (HTTP-27). */
  limits?: Partial<Omit<WorkspaceLimits, 'subscriptions'>>;
  /** Requests of one workspace that may be under way; absent: no limit (HTTP-13). */
  workspaceRequests?: number;
  /** Memory for the bodies of all requests; absent: no limit. */
  bodyMemoryMib?: number;
  /** How many days before its end a key is told of; absent: never. */
  keyExpiryWarningDays?: number;
  /** Networks of proxies whose `X-Forwarded-For` counts; absent: none. */
  trustedProxies?: readonly string[];
  /** The origin at which browsers find the service; absent: no link leads there (CONN-15). */
  publicUrl?: string | null;
  /** What happens, for the overview; absent: nobody else counts, and nothing is stored. */
  overview?: Pick<Overview, 'tally' | 'changes'>;
  callbackPolicy: CallbackPolicy;
  subscriptions: SubscriptionRules;
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
   * Stops listening, answers what is on its way or under way, and closes every connection; those that take nothing of their answers for
   * `parting_answers_ms`, or are not done after `parting_periods` of it, are cut. Call `drain` first.
   */
  close(): Promise<void>;
}

/** Starts the HTTP edge behind its address, which it takes when it is not given. Rejects with one Error when the port is in use. */
export async function startEdge(options: EdgeOptions, front?: Front): Promise<Edge> {
  const { db, log } = options;
  const drain = options.drain ?? drainSwitch();
  const pace = new RequestScheduler();
  const answers = new AnswerLateness(options.control ?? db, pace);
  const requests = requestLoad((late_ms, elapsed_ms) => pace.sample(Math.max(late_ms, answers.late_ms), elapsed_ms));
  const cookie = consoleCookie(options.publicUrl ?? null);
  const callersFound = callers(db, log, cookie);
  const limits: WorkspaceLimits = {
    ...{ requests_per_second: null, submissions_per_second: null, connections: null, stored_mib: null },
    ...options.limits,
    subscriptions: options.subscriptions.bounds.ofWorkspace,
  };
  const workspaceRates = new WorkspaceRates({
    ...{ db: options.control ?? db, log, usual: limits },
    lease_ms: ACTOR_LIMITS.lease_ms,
  });
  await workspaceRates.start();
  const workspaceStored = new WorkspaceStored(options.control ?? db, log);
  workspaceStored.start();
  const reveals = new Reveals(options.control ?? db, log);
  reveals.start();
  const checks: Checks = {
    gateway: options.gateway && gatewayCheck(options.gateway),
    callers: callersFound,
    rateLimit: options.rateLimitPerSecond ? rateLimit(options.rateLimitPerSecond) : undefined,
    workspaceRates,
    workspaceRequests: new WorkspaceRequests({
      ...{ db, load: requests, pace },
      bound: options.workspaceRequests ?? Number.POSITIVE_INFINITY,
    }),
    largeBodies: new LargeBodies(),
    probePace: new ProbePace(),
  };
  const services = servicesOf(options, {
    ...{ drain, answers, callers: callersFound, cookie, limits, workspaceRates, workspaceStored, reveals },
  });
  const bodies = new BodyMemory((options.bodyMemoryMib ?? Number.POSITIVE_INFINITY) * 2 ** 20);
  const { onAnswered, tracing } = options;
  const refusals = new RefusalPace(pace);
  const respond = responder({
    match: router(routes),
    checks,
    address: clientAddress(options.trustedProxies ?? []),
    refusals,
    services,
    requests,
    bodies,
    log,
    keyExpiryWarning_ms: (options.keyExpiryWarningDays ?? 0) * 86_400_000,
    tracing,
    onAnswered,
  });
  const underWay = new Map<Promise<void>, HttpExchange>();
  const listening = front ?? (await openFront(options));
  listening.serve((exchange) => {
    const work = respond(exchange).finally(() => underWay.delete(work));
    underWay.set(work, exchange);
  });
  const answered = async () => {
    await Promise.allSettled(underWay.keys());
  };
  const idle = async () => {
    while (underWay.size > 0) await answered();
  };
  /** How far the answers under way are: it differs from before when one of them went on, or was sent. */
  const progress = () => [...underWay.values()].reduce((sum, { piecesTaken }) => sum + 1 + piecesTaken, 0);
  /** Until nothing is under way, or nobody takes anything any more, or takes it too slowly. */
  const parted = async () => {
    for (let period = 0; period < LIMITS.parting_periods; period++) {
      const before = progress();
      await Deadline.within(LIMITS.parting_answers_ms, idle()).catch(() => {});
      if (underWay.size === 0 || progress() === before) return;
    }
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
      await parted();
      listening.close();
      await answered();
      requests.close();
      answers.close();
      await options.subscriptions.verifier?.close();
      await checks.callers.close();
      await workspaceRates.close();
      await workspaceStored.close();
      await reveals.close();
    },
  };
}

/** What every handler may use. */
function servicesOf(
  options: EdgeOptions,
  {
    drain,
    answers,
    callers,
    cookie,
    limits,
    workspaceRates,
    workspaceStored,
    reveals,
  }: { drain: Drain; answers: AnswerLateness; callers: Callers; cookie: ConsoleCookie } & Pick<
    Services,
    'limits' | 'workspaceRates' | 'workspaceStored' | 'reveals'
  >,
): Services {
  const { db, overview: { tally, changes } = new Overview() } = options;
  const lines = new LogLines(options.log, options.logSample);
  const ends = operationEnds(lines, options.tracing);
  const connectionRef = rowLoader((ids) => findConnectionRefs(db, ids));
  return {
    db,
    control: options.control ?? db,
    ring: options.ring,
    system: withPromptSubmissions(options.system, options.control ?? db, (took_ms) => answers.committed(took_ms)),
    callbackPolicy: options.callbackPolicy,
    subscriptions: options.subscriptions,
    limits,
    workspaceRates,
    workspaceStored,
    reveals,
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
      overview: rememberingLoader(
        (key) => overviewAnswer(db, key),
        LIMITS.overview_answers,
        STORAGE_LIMITS.overview_step_ms,
      ),
    },
    drain,
    callers,
    consoleCookie: cookie,
    keyExpiryWarningDays: options.keyExpiryWarningDays ?? 0,
    publicUrl: options.publicUrl ?? null,
    lines,
    ended: (operation) => {
      tally.ended(operation);
      ends(operation);
    },
    ...{ tally, changes },
    hosted: options.gateway !== undefined,
    parked: (wait) => wait,
    asWorkspace: (_workspace, work) => work({ db: options.db, parked: (wait) => wait }),
  };
}
