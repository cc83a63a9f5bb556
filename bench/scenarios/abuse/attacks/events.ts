import { answering, serveCallbacks } from '../../../kit/callback-server.js';
import { defineAttack } from '../attack.js';
import { connect, deactivate, event, granted, subscribe } from '../greed.js';

const CLIENTS = 64;
const CONNECTIONS = 16;

export const events = defineAttack<{ connections: string[]; subscriptions: string[] }>({
  name: 'events',
  means: `${CLIENTS} clients record events of ${CONNECTIONS} connections, each with a subscription to a receiver that answers at once`,
  async prepare(force) {
    const { url } = await serveCallbacks(
      force.tenant.identity,
      answering(() => force.callbacks++),
    );
    const connections = await connect(force, CONNECTIONS);
    const subscriptions = await subscribe(force, connections, 1, `${url}/events`);
    return { things: { connections, subscriptions }, note: granted(subscriptions, CONNECTIONS) };
  },
  async attack(force, { connections }) {
    const pool = force.pool(CLIENTS);
    await force.clients(CLIENTS, (client, turn) =>
      force.fire(pool, event(force, connections[(client + turn) % CONNECTIONS] as string)),
    );
  },
  clear: (force, { subscriptions }) => deactivate(force, subscriptions),
});
