import { LOOK_PROGRAM, type Look } from '../../browser-pool/contract/look.js';
import type { SkipReason } from '../../browser-pool/contract/signature.js';
import type { RunEnd, SessionEffects } from '../../browser-pool/messages.js';
import { OperationError, withoutValue } from '../../storage/model/errors.js';
import { type EvidenceFault, UNKNOWN_PROGRESS } from '../../storage/model/evidence.js';
import {
  type Execution,
  Interrupted,
  type LookEnd,
  type Outcome,
  type ProviderRuntime,
} from '../operations/attempt/execution.js';
import { outcomeAfterBoundary } from '../operations/attempt/outcome.js';
import type { ProxyHealth } from '../proxy-health.js';
import type { BrowserLink } from './browser-link.js';
import type { RunOwner } from './linked-run.js';
import { type Ordered, type OrderedRun, type OrderSources, orderRun } from './run-order.js';

export interface SocialRuntimeOptions extends OrderSources {
  /** The browser host that serves a partition. */
  link: (partition: number) => BrowserLink;
  proxies: Pick<ProxyHealth, 'saw'>;
}

/**
 * Runs `social` operations: orders a run of the capability's page program from the browser host of the connection's
 * partition, and makes the operation's outcome of its end. A look (OPS-22) is a run of a program of its own, which may only read.
 */
export function createSocialRuntime(options: SocialRuntimeOptions): ProviderRuntime {
  return {
    async run(execution) {
      requireSensibleFilters(execution);
      const run = await runInTurn(options, execution, (giveBack) => ownerOf(execution, giveBack));
      return ofSession(proven(outcomeOf(run.end, execution), run.ordered, execution), run.ordered);
    },
    async look(execution) {
      const { operationId, connection, epoch, signal, remaining_ms, sought, since_ms } = execution;
      const clock = { pauseClock: () => execution.pauseClock(), resumeClock: () => execution.resumeClock() };
      const capability = { name: LOOK_PROGRAM };
      const order = {
        operationId,
        connection,
        epoch,
        signal,
        remaining_ms,
        capability,
        input: { sought, since_ms },
        ...clock,
      };
      const run = await runInTurn(options, order, () => ({ ...READS_ONLY, signal, ...clock }));
      return lookEndOf(run.end, signal);
    },
  };
}

/** What is run at a browser host. */
type Running = Ordered & Pick<Execution, 'signal' | 'pauseClock' | 'resumeClock'>;

/** Waits for a turn, and runs. The owner may give the turn back early. */
async function runInTurn(
  options: SocialRuntimeOptions,
  running: Running,
  owner: (giveBackTurn: () => void) => RunOwner,
): Promise<{ ordered: OrderedRun; end: RunEnd }> {
  const { connection, signal } = running;
  const link = options.link(connection.partition);
  running.pauseClock(); // until the run has begun (OPS-17)
  try {
    const giveBack = await link.turn(connection.workspace_id, signal);
    try {
      const run = await withSession(options, connection.id, async () => {
        const ordered = await orderRun(options, running);
        return { ordered, end: await link.run(ordered.order, owner(giveBack)) };
      });
      const failure = proxyFailure(run.end);
      if (failure !== undefined) await options.proxies.saw(run.ordered.proxy, failure);
      const { saves } = options;
      if (refusesSession(run.end)) await saves.quiet(connection.id, signal);
      else await saves.settled(connection.id); // what the site renewed is stored before the end
      return run;
    } finally {
      giveBack();
    }
  } finally {
    running.resumeClock();
  }
}

async function withSession<T>({ saves }: OrderSources, connectionId: string, work: () => Promise<T>): Promise<T> {
  const answered = saves.use(connectionId);
  try {
    return await work();
  } finally {
    answered();
  }
}

const refusesSession = (end: RunEnd): boolean => end.type === 'failure' && (end.effects?.health ?? 'ready') !== 'ready';

/** Why nothing got through the proxy of a run; null: something did; undefined: nothing is known. */
function proxyFailure(end: RunEnd): string | null | undefined {
  if (end.type !== 'failure' || end.progress?.answer) return null;
  return end.code === 'proxy_error' ? String(end.details?.reason) : undefined;
}

const refuse = () => Promise.reject(new Error('a look only reads'));

/** What a run that only reads may ask of its owner: nothing. */
const READS_ONLY = {
  boundary: refuse,
  storeFile: refuse,
  unverifyRecruiter: refuse,
  challenge: refuse,
  challengeEnded: () => {},
};

/**
 * What a login that succeeded has proved beside its session: another proxy than the connection's is its pin from now on, and a password that was given
 * at a reconnect link its password.
 */
function proven(
  outcome: Outcome,
  { order: { proxy }, given }: OrderedRun,
  { connection, capability }: Execution,
): Outcome {
  if (outcome.status !== 'succeeded' || !capability.opensSession) return outcome;
  const pin = proxy.id !== connection.proxy_id && { proxyId: proxy.id };
  return { ...outcome, effects: { ...outcome.effects, ...pin, ...(given && { provenPassword: given }) } };
}

/** A session that has ended is the one that the run was ordered with. */
function ofSession(outcome: Outcome, { sealed }: OrderedRun): Outcome {
  const ended = 'effects' in outcome && (outcome.effects?.health ?? 'ready') !== 'ready';
  return ended && sealed ? { ...outcome, effects: { ...outcome.effects, ofSession: sealed } } : outcome;
}

/** The execution as its run's owner; the turn is another's while the user is asked. */
function ownerOf(execution: Execution, giveBackTurn: () => void): RunOwner {
  return {
    signal: execution.signal,
    boundary: () => execution.boundary(),
    storeFile: (bytes) => execution.storeFile(bytes),
    unverifyRecruiter: () => execution.unverifyRecruiter(),
    pauseClock: () => execution.pauseClock(),
    resumeClock: () => execution.resumeClock(),
    challenge: (kind, acceptsCode) => {
      giveBackTurn();
      return execution.challenge(kind, acceptsCode);
    },
    challengeEnded: () => execution.challengeEnded(),
  };
}

/** OPS-6: the contents of recruiter filters are checked only when the operation starts. */
function requireSensibleFilters({ capability, input }: Execution): void {
  const errors = capability.checkInTurn?.(input) ?? [];
  if (errors.length > 0) throw new OperationError('validation_error', { errors: errors.map(withoutValue) });
}

function outcomeOf(end: RunEnd, { capability, signal }: Execution): Outcome {
  switch (end.type) {
    case 'result':
      return { status: 'succeeded', result: end.result, ...effectsOf(end.effects) };
    case 'skipped':
      return { status: 'skipped', reason: end.reason as SkipReason, ...effectsOf(end.effects) };
    case 'failure': {
      // Past the boundary only the provider's own refusal is proof that nothing was done.
      const { pastBoundary, progress = UNKNOWN_PROGRESS } = end;
      const evidence = { ...progress, fault: faultOf(end, signal) };
      const unproven = outcomeAfterBoundary({ pastBoundary, kind: capability.kind }, evidence);
      if (unproven) return { ...unproven, ...effectsOf(end.effects) };
      if (end.code === 'canceled') {
        throw signal.reason instanceof Interrupted ? signal.reason : new Interrupted('canceled');
      }
      const failure = { code: end.code, details: end.details ?? {} };
      const { transient, unsent } = end;
      // Its lease or its database came too late for the run: the operation's end is not theirs to make.
      const own = end.code === 'session_fenced' && unsent ? { own: { wait_ms: 0 } } : {};
      const answered = progress.answer !== null;
      return { status: 'failed', failure, transient, unsent, answered, ...own, ...effectsOf(end.effects) };
    }
    default:
      return end satisfies never;
  }
}

/** The evidence's word for what ended a run past its boundary. `stopped`: the signal of its operation. */
function faultOf({ code, details }: Extract<RunEnd, { type: 'failure' }>, stopped: AbortSignal): EvidenceFault {
  switch (code) {
    case 'upstream_timeout':
    case 'parsing_error':
    case 'browser_unavailable':
    case 'session_fenced':
    case 'deadline_exceeded':
      return code;
    case 'upstream_error':
      return details?.upstream_status === null ? 'connection_lost' : code;
    case 'provider_not_found':
    case 'provider_rate_limited':
      return 'upstream_error'; // a status that the site does not name as a refusal
    case 'canceled': {
      const { reason } = stopped; // its host did not end it
      return reason instanceof Interrupted && reason.reason === 'deadline' ? 'deadline_exceeded' : 'session_fenced';
    }
    default:
      return 'internal_error';
  }
}

function lookEndOf(end: RunEnd, signal: AbortSignal): LookEnd {
  switch (end.type) {
    case 'result':
      return { status: 'looked', look: end.result as unknown as Look };
    case 'failure': {
      const { code, details = {}, transient } = end;
      if (code !== 'canceled') return { status: 'failed', failure: { code, details }, transient };
      throw signal.reason instanceof Interrupted ? signal.reason : new Interrupted('canceled');
    }
    case 'skipped':
      throw new Error(`a look was skipped: ${end.reason}`);
    default:
      return end satisfies never;
  }
}

const effectsOf = (effects: SessionEffects | undefined): { effects?: SessionEffects } => (effects ? { effects } : {});
