import type { ChallengeKind } from '../../storage/model/records.js';
import type { Execution } from '../operations/execution.js';
import { type Answering, answer } from './request.js';
import { pick } from './seeded-random.js';

/** Login, health and recruiter contracts of a simulated connection: always ready, nothing to sign in to. */

const RIGHT_CODE = '000000';
const CONTRACTS = ['Corporate Recruiter', 'Talent Partners', 'Campus Hiring'] as const;

/** Asks for codes until the right one comes; the third wrong one and a captcha nobody can solve reject (OPS-10). */
export async function passChallenge(execution: Execution, kind: ChallengeKind): Promise<void> {
  while ((await execution.challenge(kind, kind !== 'captcha')) !== RIGHT_CODE);
}

/** There is no session to store, but a reconnect counts `state_revision` up as any fresh one does (CONN-11). */
export const login: Answering<'social.login'> = ({ input }) => {
  const outcome = answer<'social.login'>({ reason: 'login_succeeded' });
  return input.reconnect ? { ...outcome, effects: { newSession: true } } : outcome;
};

export const checkHealth: Answering<'social.health.check'> = ({ self }) =>
  answer<'social.health.check'>({ health: 'ready', actor_id: self.actorId });

/** Every contract asked for is there; without one, the account's own. Published as a new session (CONN-10). */
export const switchRecruiter: Answering<'social.recruiter.switch'> = ({ input, self }) => {
  const wanted = input.contract?.toLowerCase();
  const known = CONTRACTS.find((name) => wanted !== undefined && name.toLowerCase().includes(wanted.trim()));
  const contract = known ?? input.contract ?? pick(CONTRACTS, self.seed, 60);
  return {
    ...answer<'social.recruiter.switch'>({ contract, recruiter_ready: true }),
    effects: { newSession: true, recruiter: { health: 'ready', reason: null, contract } },
  };
};
