import type { NoInput, PersonId, Text } from './fields.js';
import type { Signature } from './signature.js';

/** Login, health check and recruiter switch (contract: "Authentication and recruiter session"). */

export type Login = Signature<'social.login', LoginInput, LoginResult>;
export type CheckHealth = Signature<'social.health.check', NoInput, HealthCheckResult>;
export type SwitchRecruiter = Signature<'social.recruiter.switch', RecruiterSwitchInput, RecruiterSwitchResult>;

/** How to sign in. */
export type LoginInput = {
  /** Makes a fresh session even when the present one is still valid (CONN-11). */
  reconnect?: true;
};

/** A session that is signed in. */
export interface LoginResult {
  /** Always `login_succeeded`: the connection is `ready`. */
  reason: 'login_succeeded';
  /** Generation of the session that the operation left behind. */
  state_revision: number;
}

/** A session that works. */
export interface HealthCheckResult {
  /** Always `ready`: the feed could be read and the session belongs to the account. */
  health: 'ready';
  /** Hash id of the account that the session belongs to. */
  actor_id: PersonId;
  /** Generation of the session that was checked. */
  state_revision: number;
}

/** Which recruiter contract to use. */
export type RecruiterSwitchInput = {
  /** Name of the contract, or a part of it; without it the only one, or the one in use. */
  contract?: Text<1, 100>;
};

/** A recruiter contract that is in use and was verified. */
export interface RecruiterSwitchResult {
  /** Name of the contract that is in use now. */
  contract: string;
  /** Always `true`: a recruiter search worked under this contract. */
  recruiter_ready: true;
  /** Generation of the session that holds the contract. */
  state_revision: number;
}
