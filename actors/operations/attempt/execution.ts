import type { Look, Sought } from '../../../browser-pool/contract/look.js';
import type { SkipReason } from '../../../browser-pool/contract/signature.js';
import type { SessionEffects } from '../../../browser-pool/messages.js';
import type { OperationFailure } from '../../../storage/model/errors.js';
import type { StoredEvidence } from '../../../storage/model/evidence.js';
import type { ChallengeKind, ConnectionRow } from '../../../storage/model/records.js';
import type { Capability } from '../../capabilities/capability.js';
import type { SendPermission } from '../../lease.js';
import type { SimulatedEffects } from '../../simulated/request.js';

/**
 * One attempt at one operation, as the provider that executes it sees it. Everything durable goes through here:
 * the provider code itself never touches the operation's row.
 */
export interface Execution {
  readonly operationId: string;
  readonly capability: Capability;
  /** Validated at submission against the capability's input type. */
  readonly input: Record<string, unknown>;
  /** As read when the attempt started. */
  readonly connection: ConnectionRow;
  /** Of the partition, when the attempt started. */
  readonly epoch: number;
  /** Aborted by cancel, deadline, loss of the partition or shutdown. Its reason is an `Interrupted`. */
  readonly signal: AbortSignal;
  /** Milliseconds of running time left, not counting waits for the user (OPS-17). */
  readonly remaining_ms: number;
  /** Stops the clock of the running time while the attempt waits for its turn or for a browser (OPS-17). */
  pauseClock(): void;
  /** Lets the clock go on. */
  resumeClock(): void;
  /**
   * The write boundary: resolves once phase `dispatching` is durable under a valid epoch; from then on a lost
   * worker means `outcome_unknown`. Nothing may leave once the permission has run out. Rejects when the attempt was fenced
   * or cancelled: then nothing may leave at all.
   */
  boundary(): Promise<SendPermission>;
  /**
   * Stores the next part of the file that is the result; resolves once it is durable (OPS-14). Every part but the
   * last is a multiple of three bytes long. Rejects when the attempt was fenced.
   */
  storeFile(bytes: Buffer): Promise<void>;
  /**
   * The connection shows no recruiter contract from now on, until a switch proves one; resolves once that is durable (CONN-14).
   * Rejects when the attempt was fenced.
   */
  unverifyRecruiter(): Promise<void>;
  /**
   * Enters `waiting_user` and resolves with the user's code. Call it again after a wrong code: the third wrong one
   * rejects with `challenge_failed`, ten minutes without any with `challenge_expired`. With `acceptsCode` false only
   * `challengeEnded` resolves it. Resolving puts the operation back to `running`; a failure after it is not tried again.
   */
  challenge(kind: ChallengeKind, acceptsCode: boolean): Promise<string>;
  /** The provider shows that the user did what the challenge without a code asks for: it resolves, with an empty code. */
  challengeEnded(): void;
}

/** Why an execution was stopped from outside. */
export class Interrupted extends Error {
  constructor(readonly reason: 'canceled' | 'deadline' | 'fenced' | 'shutdown') {
    super(reason);
  }
}

/** What an execution ends with; stored in one transaction with its effects. `state_revision` is added there. */
export type Outcome =
  | { status: 'succeeded'; result: Record<string, unknown>; effects?: Effects }
  | { status: 'skipped'; reason: SkipReason; effects?: Effects }
  | Failed
  | { status: 'canceled' }
  | { status: 'outcome_unknown'; evidence: StoredEvidence; effects?: Effects };

export interface Failed {
  status: 'failed';
  failure: OperationFailure;
  effects?: Effects;
  /** It may go better the next time. */
  transient?: boolean;
  /** The trouble is the service's own: it is tried again however often it happens, after this wait. */
  own?: { wait_ms: number };
  /** Nothing left, although the boundary was entered. */
  unsent?: boolean;
  /** It is what the provider answered to a write. */
  answered?: boolean;
}

/** What an outcome changes beside the operation. */
export type Effects = SessionEffects &
  SimulatedEffects & {
    /** The proxy that the session lives behind from now on. */
    proxyId?: string;
    /** The password that a reconnect link gave and this login has proved (CONN-15). */
    provenPassword?: string;
    /** The stored session, sealed, of which they say that it has ended. */
    ofSession?: Buffer;
  };

/** One look, as the provider that makes it sees it (OPS-22). It has no boundary: a look writes nothing. */
export interface LookExecution
  extends Pick<
    Execution,
    'operationId' | 'connection' | 'epoch' | 'signal' | 'remaining_ms' | 'pauseClock' | 'resumeClock'
  > {
  readonly sought: Sought;
  /** Milliseconds since 1970: what the provider shows from before cannot be what is sought. */
  readonly since_ms: number;
}

/** What a look ends with. Nothing of it changes the connection. */
export type LookEnd = { status: 'looked'; look: Look } | Failed;

/** Runs operations of one kind of connection. May throw `OperationError` or the signal's reason instead of answering. */
export interface ProviderRuntime {
  run(execution: Execution): Promise<Outcome>;
  look(execution: LookExecution): Promise<LookEnd>;
}
