import type { SkipReason } from '../../../browser-pool/contract/signature.js';
import type { FieldError } from '../../../storage/model/errors.js';
import type { Attempt, ChallengeKind, Transition } from '../../../storage/model/records.js';
import type { Count, Timestamp, Uuid } from '../../http/fields.js';

/*
 * What an operation's answer is made of (contract: "Operation").
 */

/** Why nothing was left to do. */
export interface SkippedResultJson {
  /** What made it needless. */
  reason: SkipReason;
  /** Generation of the session in which that was found. */
  state_revision: Count;
}

/** What is known of a failure beside its code. Each code may have more of its own. */
export interface FailureDetailsJson {
  /** Whether the same submission, under a new key, can be expected to help. */
  retryable: boolean;
  /** A closer classification of the failure, where there is one. */
  reason?: string;
  /** HTTP status that the provider answered with; null where no answer came. */
  upstream_status?: Count | null;
  /** What the provider calls its refusal, such as the quota that is used up; one of its own words, as it stands. */
  upstream_code?: string;
  /** Seconds after which the provider wants to be asked again, where it says so. */
  retry_after_seconds?: Count;
  /** Health of the connection, or of its recruiter, that was in the way. */
  health?: string;
  /** Region that has no proxy. */
  region?: string;
  /** What the codes were asked for. */
  kind?: ChallengeKind;
  /** Part of the provider's answer or page that is not as it should be. */
  what?: string;
  /** Fields of the input that are wrong, of `validation_error`. */
  errors?: FieldError[];
}

/**
 * What an operation waits for: a code from its user, or, without `accepts_code`, something that only the user can do elsewhere.
 */
export interface ChallengeJson {
  /** Id of the challenge, to be sent with the code as `challenge_id`. */
  id: Uuid;
  /** What the provider asks for. */
  kind: ChallengeKind;
  /** When it is given up: then the operation fails with `challenge_expired`. */
  expires_at: Timestamp;
  /** Whether a code answers it. */
  accepts_code: boolean;
}

/** One try at an operation. */
export interface AttemptJson
  extends Omit<Attempt, 'id' | 'state_revision' | 'number' | 'started_at' | 'completed_at' | 'boundary'> {
  /** Id of the attempt. */
  id: Uuid;
  /** Generation of the session that it began with. */
  state_revision: Count;
  /** Its place among the tries, from 1. */
  number: Count;
  /** When it began. */
  started_at: Timestamp;
  /** When it ended, null while it runs. */
  completed_at: Timestamp | null;
  /** When it passed its write boundary, from where on a write is never tried again; null before, and of a read. */
  boundary_at: Timestamp | null;
}

/** One change of an operation's status. */
export interface TransitionJson extends Omit<Transition, 'at'> {
  /** When it changed. */
  at: Timestamp;
}
