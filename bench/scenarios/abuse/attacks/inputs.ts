import { type Attack, defineAttack } from '../attack.js';
import { cancelAll, connect } from '../greed.js';

const ATTACHMENT_BYTES = 1_000_000;
const HOSTILE_CLIENTS = 8;
const DISTINCT_OBJECTS = 10_500;
const WRONG_FIELDS = 100_000;

/** The same body again and again: what it costs is the service's. */
const sending = (name: string, clients: number, connections: number, means: string, make: () => object): Attack =>
  defineAttack<{ connections: string[]; body: Buffer }>({
    name,
    means,
    prepare: async (force) => ({
      things: { connections: await connect(force, connections), body: Buffer.from(JSON.stringify(make())) },
    }),
    async attack(force, { connections, body }) {
      const pool = force.pool(clients);
      await force.clients(clients, (client, turn) =>
        force.fire(pool, force.submission(connections[(client + turn) % connections.length] as string, '', body)),
      );
    },
    clear: cancelAll,
  });

const attachment = () => {
  const data_base64 = Buffer.alloc(ATTACHMENT_BYTES, 7).toString('base64');
  const input = { recipient_actor_id: 'stranger', filename: 'large.bin', content_type: 'application/octet-stream' };
  return { capability: 'social.attachment.send', input: { ...input, data_base64 } };
};

export const large = sending('large-64', 64, 64, '64 clients send attachments of 1.33 MB', attachment);
export const larger = sending('large-256', 256, 64, '256 clients send attachments of 1.33 MB', attachment);

export const distinct = sending(
  'distinct',
  HOSTILE_CLIENTS,
  1,
  `${HOSTILE_CLIENTS} clients send a list of ${DISTINCT_OBJECTS} distinct objects, 115 KB, where distinct texts are wanted`,
  () => {
    const categories = Array.from({ length: DISTINCT_OBJECTS }, (_, n) => ({ a: n }));
    return { capability: 'social.conversations.search', input: { keywords: 'x', categories } };
  },
);

export const fieldErrors = sending(
  'field-errors',
  HOSTILE_CLIENTS,
  1,
  `${HOSTILE_CLIENTS} clients send 1.8 MB of ${WRONG_FIELDS} fields that do not exist`,
  () => {
    const wrong = Array.from({ length: WRONG_FIELDS }, (_, n) => [`f${n.toString(36).padStart(7, '0')}`, n]);
    return { capability: 'social.profile.get', input: Object.fromEntries(wrong) };
  },
);
