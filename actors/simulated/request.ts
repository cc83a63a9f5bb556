import type { AnswerOf, Signature, SkipReason } from '../../browser-pool/contract/signature.js';
import type { SessionEffects } from '../../browser-pool/messages.js';
import type { FieldError } from '../../storage/model/errors.js';
import type { ConnectionRow, NewEvent } from '../../storage/model/records.js';
import type { SentInvitation } from '../../storage/operations/simulated-invitations.js';
import type { Self } from './relationship.js';
import type { SimulatedStore } from './store.js';

/** What it takes to read the simulated network as an account. */
export interface SimulatedReading {
  /** The account that the connection is signed in to. */
  readonly self: Self;
  readonly connection: Pick<ConnectionRow, 'id' | 'workspace_id' | 'health'>;
  readonly store: SimulatedStore;
}

/** One operation as the simulated network gets it. */
export interface SimulatedRequest<Input extends object = Record<string, unknown>> extends SimulatedReading {
  readonly operationId: string;
  /** Checked against the capability's contract. */
  readonly input: Input;
  /** Milliseconds since 1970. */
  now(): number;
  /** The write boundary: resolves once it is durable. A write passes it before its effects. */
  boundary(): Promise<void>;
}

/** What an answer changes beside its result; stored together with it. */
export interface SimulatedEffects extends Pick<SessionEffects, 'recruiter' | 'health'> {
  /** A fresh session without stored state: counts state_revision up as a stored one does. */
  newSession?: boolean;
  /** An invitation that the connection sent: remembered by the simulated network. */
  simulatedInvitation?: SentInvitation;
  /** Recorded with their deliveries and jobs; may belong to another connection of the workspace. */
  events?: NewEvent[];
}

export type SimulatedOutcome<Result extends object = Record<string, unknown>> =
  | { result: Result; effects?: SimulatedEffects }
  /** Nothing was left to do (OPS-7). */
  | { skipped: SkipReason }
  /** An input that proved wrong when its turn came. */
  | { invalid: FieldError[] };

/** How the simulated network answers one capability; checked against the capability's contract. */
export type SimulatedAnswer<S extends Signature> = (
  request: SimulatedRequest<S['input']>,
) => SimulatedOutcome<AnswerOf<S>> | Promise<SimulatedOutcome<AnswerOf<S>>>;
