import type { CheckHealth, Login, SwitchRecruiter } from '../../browser-pool/contract/session.js';
import type { SimulatedAnswer } from './request.js';
import { pick } from './seeded-random.js';

/** Login, health and recruiter contracts of a simulated connection, which has nothing to sign in to. */

const CONTRACTS = ['Corporate Recruiter', 'Talent Partners', 'Campus Hiring'] as const;

/** There is no session to store, but a login that makes a fresh one counts `state_revision` up (CONN-10, CONN-11). */
export const login: SimulatedAnswer<Login> = ({ input, connection }) => ({
  result: { reason: 'login_succeeded' },
  ...((input.reconnect || connection.health !== 'ready') && { effects: { newSession: true, health: 'ready' } }),
});

export const checkHealth: SimulatedAnswer<CheckHealth> = ({ self }) => ({
  result: { health: 'ready', actor_id: self.actorId },
});

/** Every contract named is there; without a name, the account's own. Published as a new session (CONN-10). */
export const switchRecruiter: SimulatedAnswer<SwitchRecruiter> = ({ input, self }) => {
  const wanted = input.contract?.toLowerCase();
  const known = CONTRACTS.find((name) => wanted !== undefined && name.toLowerCase().includes(wanted.trim()));
  const contract = known ?? input.contract ?? pick(CONTRACTS, self.seed, 60);
  return {
    result: { contract, recruiter_ready: true },
    effects: { newSession: true, recruiter: { health: 'ready', reason: null, contract } },
  };
};
