import type { HeldOperation, StartedOperation } from '../../../storage/operations/starts.js';
import type { KeyRing } from '../../../storage/secrets/encryption.js';
import { inputContext } from '../../../storage/secrets/sealing.js';
import { capabilityNamed } from '../../capabilities/catalogue.js';
import type { OperationCounters } from '../operation-counters.js';
import { Attempt, type AttemptContext } from './attempt.js';
import type { Outcome, ProviderRuntime } from './execution.js';
import { outcomeOfError, ownTrouble } from './outcome.js';
import { notReady } from './readiness.js';

/** What an attempt's run needs from its thread. */
export interface RunContext extends AttemptContext {
  ring: KeyRing;
  counters: OperationCounters;
  providers: Record<StartedOperation['provider'], ProviderRuntime>;
}

/** An attempt that was started in the database. */
export interface Begun {
  held: HeldOperation;
  started: StartedOperation;
}

/** The same, ready to run. */
export interface ReadyAttempt {
  attempt: Attempt;
  started: StartedOperation;
  /** How it ends without running: its stored input cannot be opened. */
  refusal: Outcome | undefined;
}

/** Makes the attempt of a started operation, with its input opened. Undefined when this version does not know its capability. */
export function openAttempt(context: RunContext, { held, started }: Begun): ReadyAttempt | undefined {
  const capability = capabilityNamed(started.capability);
  if (!capability) return undefined;
  const opened = openInput(context, held.id, started);
  const attempt = new Attempt(context, held, started, capability, 'input' in opened ? opened.input : {});
  return { attempt, started, refusal: 'input' in opened ? undefined : opened };
}

/** Runs an attempt at its provider and closes it. Gives its outcome; undefined when it was abandoned and nothing is to be stored. */
export async function runAttempt(
  context: RunContext,
  { attempt, started, refusal }: ReadyAttempt,
): Promise<Outcome | undefined> {
  const { capability, operationId } = attempt;
  try {
    return refusal ?? notReady(capability, started) ?? (await context.providers[started.provider].run(attempt));
  } catch (error) {
    const end = outcomeOfError(error, attempt);
    if (end.status === 'abandoned') return undefined;
    if (end.status !== 'unexpected') return end;
    context.log.error(
      { err: error, operation_id: operationId, capability: capability.name },
      'operation: its execution failed',
    );
    return end.outcome;
  } finally {
    attempt.close();
  }
}

/** The input as it was submitted. Throws KeyUnknown when the ring lacks its key, or what a damaged one throws. */
export function storedInput(
  ring: KeyRing,
  operationId: string,
  { input, input_sealed }: Pick<StartedOperation, 'input' | 'input_sealed'>,
): Record<string, unknown> {
  if (input) return input;
  return JSON.parse(ring.open(input_sealed as Buffer, inputContext(operationId)).toString('utf8'));
}

function openInput(
  { ring, log }: RunContext,
  operationId: string,
  started: StartedOperation,
): { input: Record<string, unknown> } | Outcome {
  try {
    return { input: storedInput(ring, operationId, started) };
  } catch (error) {
    log.error({ err: error, operation_id: operationId }, 'operation: its input cannot be opened');
    return ownTrouble(error) ?? INPUT_LOST;
  }
}

const INPUT_LOST: Outcome = {
  status: 'failed',
  failure: { code: 'internal_error', details: { reason: 'input_unreadable', retryable: false } },
};
