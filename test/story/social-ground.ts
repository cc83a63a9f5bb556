import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Test } from 'tap';
import type { Client } from '../fixture/client.js';
import { type ServiceGround, serviceGround, startService } from '../fixture/service.js';
import { signedIn, type Visitor } from '../sandbox/visitor.js';

/** A running service with one signed-in `social` connection, and the network as its account sees it itself. */
export interface SocialGround {
  client: Client;
  ground: ServiceGround;
  sandboxUrl: string;
  username: string;
  connection: string;
  /** The account in a browser of its own: what the network says, without the service. */
  visitor: Visitor;
  /** Runs a capability that must succeed; gives its result, `state_revision` checked and taken off. */
  read<Result = Row>(capability: string, input?: object): Promise<Result>;
}

export type Row = Record<string, unknown>;

export async function socialGround(t: Test, username: string): Promise<SocialGround> {
  const ground = await serviceGround(t);
  const { client, sandboxUrl } = await startService(t, ground);
  const connection = await client.connect({ provider: 'social', username, password: 'sandbox', region: 'us' });
  const read = async <Result>(capability: string, input: object = {}): Promise<Result> => {
    const operation = await client.run(connection, capability, input);
    if (operation.status !== 'succeeded') throw new Error(`${capability}: ${JSON.stringify(operation)}`);
    const { state_revision, ...result } = operation.result;
    const { body } = await client.send('GET', `/v1/connections/${connection}`);
    t.equal(state_revision, body.state_revision, `${capability} says the connection's state_revision`);
    return result as Result;
  };
  t.strictSame(await read('social.login'), { reason: 'login_succeeded' });
  const visitor = await visitorOf(t, ground, username);
  return { client, ground, sandboxUrl, username, connection, visitor, read };
}

/** Signs the account in at the service's own network, through the same region's proxy. */
export async function visitorOf(t: Test, { dataDir }: ServiceGround, username: string): Promise<Visitor> {
  const directory = join(dataDir, 'sandbox');
  const { proxies, controlPort } = JSON.parse(await readFile(join(directory, 'network.json'), 'utf8')) as {
    proxies: { region: string; port: number; username: string; password: string }[];
    controlPort: number;
  };
  const network = {
    ready: true as const,
    control_url: `http://127.0.0.1:${controlPort}`,
    origin: 'https://www.social.test',
    ca_file: join(directory, 'ca.pem'),
    spki: '',
    proxies: proxies.map((proxy) => ({ ...proxy, url: `http://127.0.0.1:${proxy.port}` })),
  };
  return signedIn(t, network, username);
}

/** Milliseconds of the network as the API's timestamp. */
export const iso = (at: unknown): string | null => (typeof at === 'number' ? new Date(at).toISOString() : null);

/** Whether every one of these is there once. */
export function onceEach(t: Test, seen: unknown[], all: unknown[], what: string): void {
  t.equal(new Set(seen).size, seen.length, `no ${what} twice`);
  t.strictSame([...seen].sort(), [...all].sort(), `every ${what}`);
}
