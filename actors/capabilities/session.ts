import typia from 'typia';
import type { NoInput } from '../../browser-pool/contract/fields.js';
import type {
  CheckHealth,
  HealthCheckResult,
  Login,
  LoginInput,
  LoginResult,
  RecruiterSwitchInput,
  RecruiterSwitchResult,
  SwitchRecruiter,
} from '../../browser-pool/contract/session.js';
import * as simulated from '../simulated/session.js';
import { defineCapability } from './capability.js';

// Reads, all three: signing in twice does no harm, so a lost attempt may be made again (OPS-4).

export const login = defineCapability<Login>({
  name: 'social.login',
  summary:
    'Signs in with the stored credentials; on a live session it verifies that one, unless `reconnect` is given. May wait for the user.',
  kind: 'read',
  send: false,
  needs: 'nothing',
  sealed: false,
  opensSession: true,
  challenges: true,
  validate: typia.createValidateEquals<LoginInput>(),
  schemas: typia.json.schemas<[LoginInput, LoginResult]>(),
  example: {
    input: { reconnect: true },
    result: { reason: 'login_succeeded', state_revision: 1 },
  },
  simulated: simulated.login,
});

const checkHealth = defineCapability<CheckHealth>({
  name: 'social.health.check',
  summary: 'Opens the saved session and checks the feed and whose session it is.',
  kind: 'read',
  send: false,
  needs: 'session',
  sealed: false,
  validate: typia.createValidateEquals<NoInput>(),
  schemas: typia.json.schemas<[NoInput, HealthCheckResult]>(),
  example: {
    input: {},
    result: { health: 'ready', actor_id: 'ACoAAAda1', state_revision: 1 },
  },
  simulated: simulated.checkHealth,
});

const switchRecruiter = defineCapability<SwitchRecruiter>({
  name: 'social.recruiter.switch',
  summary: 'Switches to the matching recruiter contract and verifies it with a search. May wait for the user.',
  kind: 'read',
  send: false,
  needs: 'session',
  sealed: false,
  challenges: true,
  validate: typia.createValidateEquals<RecruiterSwitchInput>(),
  schemas: typia.json.schemas<[RecruiterSwitchInput, RecruiterSwitchResult]>(),
  example: {
    input: { contract: 'Talent Europe' },
    result: { contract: 'Talent Europe', recruiter_ready: true, state_revision: 2 },
  },
  simulated: simulated.switchRecruiter,
});

/** Login, health check and recruiter switch (contract: "Authentication and recruiter session"). */
export const session = [login, checkHealth, switchRecruiter] as const;
