import type { HeldOperation, StartedOperation } from '../../storage/operations/execution.js';
import type { KeyRing } from '../../storage/secrets/encryption.js';
import { inputContext } from '../../storage/secrets/sealing.js';
import { capabilityNamed } from '../capabilities/catalogue.js';
import { Attempt, type AttemptContext } from './attempt.js';
import type { Outcome, ProviderRuntime } from './execution.js';
import { outcomeOfError } from './outcome.js';
import { notReady } from './readiness.js';

/** What an attempt's run needs from its thread. */
export interface RunContext extends AttemptContext {
  ring: KeyRing;
  providers: Record<StartedOperation['provider'], ProviderRuntime>;
}

/** An attempt that was started in the database, ready to run. */
export interface ReadyAttempt {
  attempt: Attempt;
  started: StartedOperation;
  /** False when no key of the ring opens the stored input. */
  readable: boolean;
}

/** Makes the attempt of a started operation, with its input opened. Throws when its capability is unknown. */
export function openAttempt(context: RunContext, held: HeldOperation, started: StartedOperation): ReadyAttempt {
  const capability = capabilityNamed(started.capability);
  if (!capability) throw new Error(`operation ${held.id} names an unknown capability`);
  const input = started.input ?? openInput(context, held.id, started);
  const attempt = new Attempt(context, held, started, capability, input ?? {});
  return { attempt, started, readable: input !== undefined };
}

/** Runs an attempt at its provider and closes it. Gives its outcome; undefined when it was abandoned and nothing is to be stored. */
export async function runAttempt(
  context: RunContext,
  { attempt, started, readable }: ReadyAttempt,
): Promise<Outcome | undefined> {
  const { capability, operationId } = attempt;
  try {
    const refusal = readable ? notReady(capability, started) : INPUT_LOST;
    return refusal ?? (await context.providers[started.provider].run(attempt));
  } catch (error) {
    const end = outcomeOfError(error, attempt);
    if (end.status === 'abandoned') return undefined;
    if (end.status !== 'unexpected') return end;
    context.log.error({ err: error, operation_id: operationId, capability: capability.name }, 'execution failed');
    return end.outcome;
  } finally {
    attempt.close();
  }
}

function openInput(
  { ring, log }: RunContext,
  operationId: string,
  started: StartedOperation,
): Record<string, unknown> | undefined {
  try {
    const opened = ring.open(started.input_sealed as Buffer, inputContext(operationId));
    return JSON.parse(opened.toString('utf8')) as Record<string, unknown>;
  } catch (error) {
    log.error({ err: error, operation_id: operationId }, 'input cannot be opened');
    return undefined;
  }
}

const INPUT_LOST: Outcome = {
  status: 'failed',
  failure: { code: 'internal_error', details: { reason: 'input_unreadable', retryable: false } },
};
