import { setTimeout as delay } from 'node:timers/promises';
import { lookFor } from '../../browser-pool/contract/look.js';
import { type OperationFailure, withoutValue } from '../../storage/model/errors.js';
import type { StoredEvidence } from '../../storage/model/evidence.js';
import type { ChallengeKind } from '../../storage/model/records.js';
import type { Sql } from '../../storage/postgres/database.js';
import type { Execution, Outcome, ProviderRuntime } from '../operations/attempt/execution.js';
import { LIMITS } from '../simulated/limits.js';
import { placeOf } from '../simulated/look.js';
import { selfOf } from '../simulated/relationship.js';
import type { SimulatedOutcome } from '../simulated/request.js';
import { simulatedStore } from '../simulated/store.js';
import { triggersOf } from '../simulated/triggers.js';

/**
 * Answers the operations of simulated connections from a network that is computed from the account: the same request
 * has the same answer, on any thread and after any restart, and nothing is stored for it. The effects of operations
 * are remembered through their own rows and events.
 *
 *     triggers ─▶ delay ─▶ challenge ─▶ failure or skip of a trigger ─▶ check in turn ─▶ the record's answer
 *                                                                    (a write: look-ups, boundary(), then its effects)
 *
 * A look (OPS-22) reads what the operations left, whatever triggers stand in the input.
 */
export interface SimulatedDependencies {
  db: Sql;
  /** Milliseconds since 1970; what messages are stamped with. */
  clock?: () => number;
}

/** The code that every simulated challenge accepts. */
const RIGHT_CODE = '000000';

/** One a thread: it batches the look-ups of all the operations that run there. */
export function createSimulatedProvider({ db, clock = Date.now }: SimulatedDependencies): ProviderRuntime {
  const store = simulatedStore(db);

  async function answerTo(execution: Execution): Promise<Outcome> {
    const { capability, connection, input, operationId } = execution;
    const errors = capability.checkInTurn?.(input) ?? [];
    if (errors.length > 0) return outcomeOf({ invalid: errors });
    const self = selfOf(connection.actor_id ?? connection.id);
    const boundary = async () => {
      // Its permission to send is of no use here: nothing leaves. The effects of the answer are stored in the transaction of the
      // attempt's end, and only while the row still is this attempt's.
      await execution.boundary();
    };
    return outcomeOf(await capability.simulated({ operationId, input, self, connection, store, now: clock, boundary }));
  }

  return {
    async run(execution) {
      const { capability, connection, input, signal } = execution;
      const triggers = triggersOf(connection.actor_id, input);
      signal.throwIfAborted();
      if (triggers.delay_ms > 0) await pause(triggers.delay_ms, signal);
      if (triggers.challenge && capability.challenges) await passChallenge(execution, triggers.challenge);
      if (triggers.failure) return failureOf(capability.name, triggers.failure);
      if (triggers.skip) return { status: 'skipped', reason: triggers.skip };
      if (triggers.unknown && capability.kind === 'write') {
        if (triggers.written) return withoutAnswer(await answerTo(execution), clock());
        await execution.boundary();
        return { status: 'outcome_unknown', evidence: lostAnswer(clock()) };
      }
      return answerTo(execution);
    },

    async look({ connection, sought, since_ms }) {
      const self = selfOf(connection.actor_id ?? connection.id);
      return { status: 'looked', look: await lookFor(sought, since_ms, placeOf({ self, connection, store })) };
    },
  };
}

/** A check that finds no session, or another account, has the connection signed in again (CONN-16). */
function failureOf(capability: string, failure: OperationFailure): Outcome {
  const proves = capability === 'social.health.check' && SIGNED_OUT.has(failure.code);
  return { status: 'failed', failure, ...(proves && { effects: { health: 'needs_login' } }) };
}

const SIGNED_OUT: ReadonlySet<string> = new Set(['authentication_failed', 'identity_mismatch']);

/** As if the connection had broken after the request had left at this time. */
function lostAnswer(at_ms: number): StoredEvidence {
  const request = { sent: 'yes' as const, at: new Date(at_ms).toISOString() };
  return { request, answer: null, fault: 'connection_lost' };
}

/** The write was done, and its answer lost. */
function withoutAnswer(outcome: Outcome, at_ms: number): Outcome {
  if (outcome.status !== 'succeeded') return outcome;
  const { effects } = outcome;
  return { status: 'outcome_unknown', evidence: lostAnswer(at_ms), ...(effects && { effects }) };
}

function outcomeOf(answer: SimulatedOutcome): Outcome {
  if ('skipped' in answer) return { status: 'skipped', reason: answer.skipped };
  if ('invalid' in answer) {
    return {
      status: 'failed',
      failure: { code: 'validation_error', details: { errors: answer.invalid.map(withoutValue) } },
    };
  }
  const { result, effects } = answer;
  return { status: 'succeeded', result, ...(effects && { effects }) };
}

/** Asks for codes until the right one comes; the third wrong one, or a captcha, rejects (OPS-10). An approval is given by itself. */
async function passChallenge(execution: Execution, kind: ChallengeKind): Promise<void> {
  if (kind !== 'approval') {
    while ((await execution.challenge(kind, kind !== 'captcha')) !== RIGHT_CODE);
    return;
  }
  const given = setTimeout(() => execution.challengeEnded(), LIMITS.approval_ms);
  try {
    await execution.challenge(kind, false);
  } finally {
    clearTimeout(given);
  }
}

/** Waits, unless it is stopped from outside: then rejects with the reason. */
async function pause(delay_ms: number, signal: AbortSignal): Promise<void> {
  await delay(delay_ms, undefined, { signal }).catch(() => signal.throwIfAborted());
}
