import { tmpdir } from 'node:os';
import { join } from 'node:path';
import typia from 'typia';
import { demoReceiver } from '../../../server/start/demo-receiver.js';
import type { SplitCores } from '../../kit/cores.js';
import { mapConcurrent } from '../../kit/map-concurrent.js';
import { Child } from '../../kit/program.js';
import { type BenchService, startService } from '../../kit/service.js';
import { TemporaryFolder } from '../../kit/temporary-folder.js';
import { LIMITS } from './limits.js';
import type { FromReceiver, ToReceiver, Worked } from './messages.js';

/** The service of a soak and the receiver of its callbacks, each a process of its own. */
export interface SoakWorld {
  service: BenchService;
  /** Makes the simulated connections; every other one has a subscription to the messages that it receives. */
  simulated(count: number): Promise<Worked[]>;
  /** Callbacks that came in so far. */
  callbacks(): Promise<number>;
}

/** Starts both, works with them, and ends them however the work ends. */
export async function withWorld<T>(cores: SplitCores | null, work: (world: SoakWorld) => Promise<T>): Promise<T> {
  await using folder = new TemporaryFolder(join(tmpdir(), 'bench-soak-'));
  const { host, key, cert, secret, caFile } = await demoReceiver(folder.path);
  await using receiver = new Child<ToReceiver, FromReceiver>(new URL('./receiver.js', import.meta.url), cores?.client);
  const { url } = await receiver.ask({ type: 'start', host, key, cert }, 'listening', LIMITS.request_ms);
  const settings = { CALLBACK_ALLOWED_NETWORKS: `${host}/32`, CALLBACK_CA_FILE: caFile };
  await using service = await startService(settings, { cores: cores?.service });
  return await work({
    service,
    simulated: (count) => simulated(service, count, `${url}/soak`, secret),
    callbacks: async () => (await receiver.ask({ type: 'count' }, 'counted', LIMITS.request_ms)).accepted,
  });
}

async function simulated(service: BenchService, count: number, callbackUrl: string, secret: string): Promise<Worked[]> {
  const ids = await service.createSimulated(count);
  const subscribed = ids.filter((_, place) => place % 2 === 0);
  await mapConcurrent(subscribed, (id) => service.api.subscribe(id, callbackUrl, secret));
  return ids.map((connectionId, place) => ({ connectionId, actor: `bench-${place}` }));
}

const assertPeople = typia.createAssert<{ people: { hash_id: string }[] }>();

/** Hash id of a member of the network that its connections can write to. */
export async function findPerson({ api }: BenchService, connectionId: string): Promise<string> {
  const found = await api.run(connectionId, 'social.people.search', { keywords: 'engineer', count: 1 });
  const [person] = assertPeople(found.result).people;
  if (!person) throw new Error('the network has nobody to write to');
  return person.hash_id;
}
