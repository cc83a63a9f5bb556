import { defineAttack } from '../attack.js';
import { cancelAll, connect } from '../greed.js';

const CLIENTS = 6_000;
/** One in so many hangs up and comes again. */
const IMPATIENT = 4;
const PATIENCE_ms = 500;

/** Requests that wait for operations which take longer than the attack. */
export const waits = defineAttack<string[]>({
  name: 'waits',
  means: `${CLIENTS} requests with Prefer: wait=30, every fourth of which hangs up after ${PATIENCE_ms} ms and comes again`,
  async prepare(force) {
    const connections = await connect(force, 64);
    const pool = force.pool(16);
    const operations: string[] = [];
    for (const id of connections) {
      const answer = await force.ask(
        pool,
        force.submission(id, 'social.profile.get', { profile_id: 'sim-delay-60000' }),
      );
      operations.push((JSON.parse(answer?.text ?? '{}') as { id: string }).id);
    }
    return { things: operations };
  },
  async attack(force, operations) {
    const patient = force.pool(CLIENTS);
    await force.clients(CLIENTS, async (client) => {
      const shot = {
        path: `/v1/operations/${operations[client % operations.length]}`,
        headers: { ...force.key, prefer: 'wait=30' },
      };
      if (client % IMPATIENT > 0) return force.fire(patient, shot);
      const own = force.pool(1);
      const asked = force.fire(own, shot);
      await Promise.race([asked, force.pause(PATIENCE_ms)]);
      force.hangUp(own);
      return asked;
    });
  },
  clear: cancelAll,
});
