import typia from 'typia';
import { ServiceApi } from '../../../kit/api.js';
import { mapConcurrent } from '../../../kit/map-concurrent.js';
import type { Worked } from '../load/work.js';
import type { World } from './world.js';

/** Who is worked on. */
export interface Accounts {
  simulated: Worked[];
  social: Worked[];
  /** Hash id of a member that social connections write to. */
  person: string;
}

const REGIONS = ['US', 'DE', 'GB', 'FR'];
const EVENT_TYPES = ['message_received', 'message_sent', 'custom_connection_request_accepted'];

const assertPeople = typia.createAssert<{ people: { hash_id: string }[] }>();

/**
 * Makes the connections, signs the social ones in, and subscribes receivers to two of three connections, to some events or to
 * all. With `tellEnds`, the end of every operation is told as well: to a subscription of the workspace, and to every other one of a connection.
 * No fault is tried meanwhile; a node whose limits are absurd may refuse at first.
 */
export async function makeAccounts(
  world: World,
  count: { simulated: number; social: number },
  { tellEnds = false } = {},
): Promise<Accounts> {
  const apis = world.nodes.map(({ url }) => new ServiceApi({ url, key: world.key, patient: true }));
  const apiOf = (number: number) => apis[number % apis.length] as ServiceApi;
  const [{ origin, secret }] = world.receivers as [World['receivers'][number]];
  if (tellEnds) await apiOf(0).subscribeAll(['operation.finished'], `${origin}/all`, secret);
  const simulated = await mapConcurrent(numbers(count.simulated), async (number) => {
    const actor = `chaos-${number}`;
    const external_actor = { kind: 'person', id: actor };
    return { connection_id: await apiOf(number).connect({ provider: 'simulated', external_actor }), actor };
  });
  const social = await mapConcurrent(numbers(count.social), async (number) => {
    const actor = `chaos-social-${number}`;
    const region = REGIONS[number % REGIONS.length];
    const body = { provider: 'social', username: actor, password: 'sandbox', region };
    const connection_id = await apiOf(number).connect(body);
    const { status, error_code } = await apiOf(number).run(connection_id, 'social.login');
    if (status !== 'succeeded') throw new Error(`${actor} is not signed in: ${status} ${error_code}`);
    return { connection_id, actor };
  });
  await mapConcurrent(
    numbers(count.simulated).filter((number) => number % 3 !== 0),
    async (number) => {
      const { origin, secret } = world.receivers[number % world.receivers.length] as World['receivers'][number];
      await apiOf(number).send('POST', `/v1/connections/${simulated[number]?.connection_id}/subscriptions`, {
        event_types: [
          ...EVENT_TYPES.slice(0, 1 + (number % EVENT_TYPES.length)),
          ...(tellEnds && number % 2 === 0 ? ['operation.finished'] : []),
        ],
        callback_url: `${origin}/${number}`,
        secret,
      });
    },
  );
  return { simulated, social, person: await findPerson(apiOf(0), social) };
}

async function findPerson(api: ServiceApi, [first]: Worked[]): Promise<string> {
  if (!first) return '';
  const found = await api.run(first.connection_id, 'social.people.search', { keywords: 'engineer', count: 1 });
  return assertPeople(found.result).people[0]?.hash_id ?? '';
}

const numbers = (count: number) => Array.from({ length: count }, (_, number) => number);
