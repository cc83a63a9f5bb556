import { type Attack, defineAttack } from '../attack.js';
import type { Force } from '../force.js';
import { cancelAll, connect } from '../greed.js';

const CLIENTS = 512;

async function submitAll(force: Force, connections: string[]): Promise<void> {
  const pool = force.pool(CLIENTS);
  await force.clients(CLIENTS, (client, turn) => {
    const connection = connections[(client + turn) % connections.length] as string;
    return force.fire(pool, force.submission(connection, 'social.identity.get', {}));
  });
}

const submitting = (name: string, connections: number, means: string): Attack =>
  defineAttack<string[]>({
    name,
    means,
    prepare: async (force) => ({ things: await connect(force, connections) }),
    attack: submitAll,
    clear: cancelAll,
  });

export const submits = submitting('submits', 256, `${CLIENTS} clients submit to 256 connections`);
export const submitsToOne = submitting('submits-one', 1, `${CLIENTS} clients submit to one connection`);
