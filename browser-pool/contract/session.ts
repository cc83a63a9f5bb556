import type { NoInput, Text } from './fields.js';
import type { Signature } from './signature.js';

/** Login, health check and recruiter switch (contract: "Authentication and recruiter session"). */

export type Login = Signature<'social.login', LoginInput, LoginResult>;
export type CheckHealth = Signature<'social.health.check', NoInput, HealthCheckResult>;
export type SwitchRecruiter = Signature<'social.recruiter.switch', RecruiterSwitchInput, RecruiterSwitchResult>;

export type LoginInput = {
  /** Always makes a fresh session (CONN-11). */
  reconnect?: true;
};

export interface LoginResult {
  reason: 'login_succeeded';
  state_revision: number;
}

export interface HealthCheckResult {
  health: 'ready';
  actor_id: string;
  state_revision: number;
}

export type RecruiterSwitchInput = { contract?: Text<1, 100> };

export interface RecruiterSwitchResult {
  contract: string;
  recruiter_ready: true;
  state_revision: number;
}
