import typia from 'typia';
import type { NoInput, Text } from '../../browser-pool/contract/fields.js';
import type { CatalogueEntry } from './rules.js';

/** Login, health check and recruiter switch (contract: "Authentication and recruiter session"). */

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

// Reads, all three: signing in twice does no harm, so a lost attempt may be made again (OPS-4).
export const session: readonly CatalogueEntry[] = [
  {
    name: 'social.login',
    family: 'session',
    kind: 'read',
    send: false,
    needs: 'nothing',
    sealed: false,
    opensSession: true,
    challenges: true,
    validate: typia.createValidateEquals<LoginInput>(),
  },
  {
    name: 'social.health.check',
    family: 'session',
    kind: 'read',
    send: false,
    needs: 'session',
    sealed: false,
    validate: typia.createValidateEquals<NoInput>(),
  },
  {
    name: 'social.recruiter.switch',
    family: 'session',
    kind: 'read',
    send: false,
    needs: 'session',
    sealed: false,
    challenges: true,
    validate: typia.createValidateEquals<RecruiterSwitchInput>(),
  },
];
