import { defineAttack } from '../attack.js';
import type { Force, Shot } from '../force.js';
import { cancelAll, connect } from '../greed.js';

const CONNECTIONS = 1_000;
const SOCKETS = 256;

interface Login {
  id: string;
  status: string;
  challenge: { id: string } | null;
}

/** Logins that each ask for a code: every other one waits for it, the others get wrong ones until they have failed, and begin anew. */
export const logins = defineAttack<string[]>({
  name: 'logins',
  means: `${CONNECTIONS} connections log in and are asked for a code: half of them wait, half answer wrong codes and log in again`,
  prepare: async (force) => ({
    things: await connect(force, CONNECTIONS, ' sim-challenge-email'),
  }),
  async attack(force, connections) {
    const pool = force.pool(SOCKETS);
    const ask = async (shot: Shot) => {
      const answer = await force.ask(pool, shot);
      return answer && answer.status < 300 ? (JSON.parse(answer.text) as Login) : undefined;
    };
    await force.clients(CONNECTIONS, async (client) => {
      const login = await ask(force.submission(connections[client] as string, 'social.login', {}));
      if (!login) return force.pause(100);
      return answerWrongly(force, login, client % 2 === 0, ask);
    });
  },
  clear: cancelAll,
});

/** Resolves when the login has ended, or the attack's time is over. */
async function answerWrongly(
  force: Force,
  { id }: Login,
  waits: boolean,
  ask: (shot: Shot) => Promise<Login | undefined>,
): Promise<void> {
  const path = `/v1/operations/${id}`;
  while (!force.isOver) {
    const now = await ask({ path, headers: { ...force.key, prefer: 'wait=5' } });
    if (now && !['queued', 'running', 'waiting_user'].includes(now.status)) return;
    if (!now || waits) await force.pause(waits ? 2_000 : 50);
    else if (now.challenge) {
      const body = { challenge_id: now.challenge.id, code: '999999' };
      await ask({ method: 'POST', path: `${path}/challenge`, headers: force.key, body });
    }
  }
}
