import type { FaultRecord } from '../evidence.js';
import { LIMITS } from './limits.js';

/** What a fault hits. `other` is one that this file does not know by its name: it may explain whatever any fault explains. */
export type FaultFamily =
  | 'node'
  | 'thread'
  | 'browser'
  | 'database'
  | 'link'
  | 'disk'
  | 'provider'
  | 'receiver'
  | 'clock'
  | 'other';

/** The first that is found in the kind or the target decides: a link that is cut at a node is a link's fault. */
const FAMILIES: readonly [RegExp, FaultFamily][] = [
  [/receiver|callback|drip/i, 'receiver'],
  [/clock|skew/i, 'clock'],
  [/thread/i, 'thread'],
  [/browser|chromium/i, 'browser'],
  [/disk|full/i, 'disk'],
  [/provider|network|site|malformed|logged_out|drop_(before|after)|hang|^error|^delay/i, 'provider'],
  [/link|deaf|stall|cut/i, 'link'],
  [/database|postgres|backend|\bpg\b|pg_/i, 'database'],
  [/node|kill|term|stop|cont|pause|restart/i, 'node'],
];

export function familyOf({ kind, target }: FaultRecord): FaultFamily {
  const text = `${kind} ${target}`;
  return FAMILIES.find(([pattern]) => pattern.test(text))?.[1] ?? 'other';
}

const OWNER_LOST = ['outcome_unknown', 'worker_lost', 'session_fenced', 'deadline_exceeded', 'challenge_expired'];
const NODE_LOST = [...OWNER_LOST, 'browser_unavailable', 'upstream_error', 'upstream_timeout', 'proxy_error'];

/**
 * Ends (`outcome_unknown`, or the code of a failure) that each kind of fault explains. What stands nowhere is never explained:
 * `internal_error`, and what only the request itself can cause.
 */
const EXPLAINS: Record<Exclude<FaultFamily, 'other'>, ReadonlySet<string>> = {
  node: new Set(NODE_LOST),
  clock: new Set(NODE_LOST),
  thread: new Set([...OWNER_LOST, 'browser_unavailable']),
  browser: new Set([
    'outcome_unknown',
    'browser_unavailable',
    'upstream_error',
    'upstream_timeout',
    'deadline_exceeded',
  ]),
  // No browser is lost with the database: a run that finds none then was not waiting for its turn.
  database: new Set(OWNER_LOST),
  link: new Set(OWNER_LOST),
  disk: new Set(OWNER_LOST),
  provider: new Set([
    'outcome_unknown',
    'upstream_error',
    'upstream_timeout',
    'parsing_error',
    'proxy_error',
    'authentication_failed',
    'identity_mismatch',
    'session_fenced',
    'deadline_exceeded',
    'provider_not_found',
    'provider_rate_limited',
    'provider_restricted',
  ]),
  receiver: new Set(),
};

/** Ends that a fault of the provider leaves behind for good: a session that it ended stays ended. */
const LASTING: ReadonlySet<string> = new Set(['connection_not_ready', 'recruiter_not_ready']);

const explains = (family: FaultFamily, end: string) =>
  family === 'other' ? Object.values(EXPLAINS).some((ends) => ends.has(end)) : EXPLAINS[family].has(end);

/** A stretch of time; both ends belong to it. */
export interface Span {
  from: number;
  to: number;
}

interface KnownFault extends FaultRecord {
  family: FaultFamily;
}

/** What the target of a fault may name. */
export interface FaultTargets {
  /** By the name of its account at the provider, and by its id: a connection. */
  connections: ReadonlyMap<string, string>;
  /** What receivers are called: their names and the addresses of subscriptions. */
  receivers: readonly string[];
}

/** The faults of a run: what each explains, and when. */
export class Faults {
  readonly #faults: KnownFault[];
  readonly #targets: FaultTargets;

  constructor(faults: readonly FaultRecord[], targets: FaultTargets) {
    this.#faults = faults.map((fault) => ({ ...fault, family: familyOf(fault) }));
    this.#targets = targets;
  }

  /** The faults of these families, the earliest first. */
  of(...families: FaultFamily[]): readonly KnownFault[] {
    return this.#faults.filter(({ family }) => families.includes(family)).sort((a, b) => a.from - b.from);
  }

  /** True when a fault explains this end of an operation of the connection that lived for so long. */
  explain(end: string, connectionId: string, life: Span): boolean {
    return this.#faults.some((fault) => {
      if (!this.#concerns(fault, connectionId)) return false;
      if (LASTING.has(end)) return fault.family === 'provider' && fault.from <= life.to;
      return overlaps(fault, life) && explains(fault.family, end);
    });
  }

  /** True when one of these receivers failed at the time. A fault whose target is no receiver's name hit all of them. */
  receiverFailed(names: readonly string[], life: Span): boolean {
    const namesOne = (target: string) => (name: string) => name.includes(target) || target.includes(name);
    return this.#faults.some(
      ({ family, target, ...span }) =>
        (family === 'receiver' || family === 'other') &&
        overlaps(span, life) &&
        (names.some(namesOne(target)) || !this.#targets.receivers.some(namesOne(target))),
    );
  }

  /** True when the network kept the requests of this connection for a while at the time. */
  networkDelayed(connectionId: string, life: Span): boolean {
    return this.#faults.some(
      (fault) =>
        /delay/.test(fault.kind) &&
        this.#concerns(fault, connectionId) &&
        fault.from <= life.to &&
        life.from <= fault.to,
    );
  }

  /** True when the clock of some node was wrong at the time, or when the node noted its own time of the end. */
  clockWasWrong({ from, to }: Span): boolean {
    const life = { from, to: to + LIMITS.stored_end_ms };
    return this.#faults.some((fault) => fault.family === 'clock' && overlaps(fault, life));
  }

  /** A provider's fault for one account concerns that account's connection alone. */
  #concerns({ family, target }: KnownFault, connectionId: string): boolean {
    if (family !== 'provider') return true;
    const hit = this.#targets.connections.get(target);
    return hit === undefined || hit === connectionId;
  }
}

const overlaps = (fault: Span, life: Span) =>
  fault.from <= life.to && fault.to + LIMITS.fault_aftermath_ms >= life.from;
