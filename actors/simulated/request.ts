import type { AnswerOf, CapabilityName, InputOf } from '../capabilities/signatures.js';
import type { Execution, Outcome } from '../operations/execution.js';
import type { Self } from './relationship.js';
import type { SimulatedStore } from './store.js';

/** One operation as the simulated network is asked it. */
export interface Ask<Name extends CapabilityName> {
  input: InputOf<Name>;
  self: Self;
  execution: Execution;
  store: SimulatedStore;
  /** Milliseconds since 1970. */
  now: () => number;
}

export type Answering<Name extends CapabilityName> = (ask: Ask<Name>) => Outcome | Promise<Outcome>;

/** A success; its result is everything the capability promises but `state_revision`, which the actor adds. */
export function answer<Name extends CapabilityName>(result: AnswerOf<Name>): Extract<Outcome, { status: 'succeeded' }> {
  return { status: 'succeeded', result: { ...result } };
}

/** An input that proved wrong when its turn came. */
export function invalid(path: string, expected: string): Outcome {
  return { status: 'failed', failure: { code: 'validation_error', details: { errors: [{ path, expected }] } } };
}
