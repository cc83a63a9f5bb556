import { randomUUID } from 'node:crypto';
import { ServiceApi } from '../../../kit/api.js';
import { mapConcurrent } from '../../../kit/map-concurrent.js';
import type { Tenant } from '../messages.js';
import type { Ids } from './messages.js';

const CONNECTIONS = 8;

/** Gives a tenant some of everything that a path can name; `word` stands in every text of it. */
export async function furnish({ url, key, identity }: Tenant, word: string): Promise<Ids> {
  const api = new ServiceApi({ url, key });
  const numbers = Array.from({ length: CONNECTIONS }, (_, number) => number);
  const connection = await mapConcurrent(numbers, (number) =>
    api.connect({ provider: 'simulated', external_actor: { kind: 'person', id: `${word}-${number}` } }),
  );
  await api.connect({
    provider: 'social',
    username: `${word}@example.test`,
    password: `password-${word}`,
    region: 'US',
  });
  const callbackUrl = `https://${identity.host}:8443/${word}`;
  const subscription = await mapConcurrent(connection, (id) => api.subscribe(id, callbackUrl, identity.secret));
  const operation = await mapConcurrent(connection, async (id) => {
    const input = { recipient_actor_id: `${word}-0`, body: `Hello from ${word}` };
    return (await api.run(id, 'social.message.send', input)).id;
  });
  const waiting = await api.run(connection[0] as string, 'social.profile.get', {
    profile_id: `${word}-${randomUUID()}`,
  });
  for (const id of connection) await api.emit(id, { message_body: `A message of ${word}` });
  const event = await listed<{ id: string }>(api, connection, 'connections', 'events');
  const delivery = await listed<{ id: string }>(api, subscription, 'subscriptions', 'deliveries');
  return { connection, subscription, operation: [...operation, waiting.id], event, delivery };
}

/** Ids of what each of these resources lists under a name. */
async function listed<Row extends { id: string }>(
  api: ServiceApi,
  ids: string[],
  resource: string,
  name: string,
): Promise<string[]> {
  const pages = await mapConcurrent(ids, async (id) => {
    const { body } = await api.send('GET', `/v1/${resource}/${id}/${name}`);
    return (body as Record<string, Row[]>)[name] ?? [];
  });
  return pages.flat().map(({ id }) => id);
}
