import { answering, serveCallbacks } from '../../../kit/callback-server.js';
import { arrivals } from '../arrivals.js';
import { defineAttack } from '../attack.js';
import { connect, deactivate, event, granted, subscribe } from '../greed.js';

interface Subscribed {
  connections: string[];
  subscriptions: string[];
}

const SILENT_CONNECTIONS = 4;
const SILENT_EACH = 83;
const EVENTS_PER_S = 8;
const AMPLIFIED = 2_000;

export const silentCallbacks = defineAttack<Subscribed>({
  name: 'callbacks',
  means: `${EVENTS_PER_S} events/s to ${SILENT_CONNECTIONS * SILENT_EACH} subscriptions whose receiver takes everything and never answers`,
  async prepare(force) {
    const { url } = await serveCallbacks(force.tenant.identity, () => force.callbacks++);
    const connections = await connect(force, SILENT_CONNECTIONS);
    const subscriptions = await subscribe(force, connections, SILENT_EACH, `${url}/silent`);
    const note = granted(subscriptions, SILENT_CONNECTIONS * SILENT_EACH);
    return { things: { connections, subscriptions }, note };
  },
  async attack(force, { connections }) {
    const pool = force.pool(8);
    let turn = 0;
    await force.whileItLasts((seconds) =>
      arrivals(EVENTS_PER_S, seconds, async () => {
        await force.fire(pool, event(force, connections[turn++ % connections.length] as string));
      }),
    );
  },
  clear: (force, { subscriptions }) => deactivate(force, subscriptions),
});

export const amplification = defineAttack<Subscribed>({
  name: 'amplification',
  means: `one event/s to ${AMPLIFIED} subscriptions of one connection to one address, which answers at once`,
  async prepare(force) {
    const counted = () => force.callbacks++;
    const { url } = await serveCallbacks(force.tenant.identity, answering(counted));
    const connections = await connect(force, 1);
    const subscriptions = await subscribe(force, connections, AMPLIFIED, `${url}/one`);
    return { things: { connections, subscriptions }, note: granted(subscriptions, AMPLIFIED) };
  },
  async attack(force, { connections }) {
    const pool = force.pool(8);
    await force.whileItLasts((seconds) =>
      arrivals(1, seconds, async () => {
        await force.fire(pool, event(force, connections[0] as string));
      }),
    );
  },
  clear: (force, { subscriptions }) => deactivate(force, subscriptions),
});
