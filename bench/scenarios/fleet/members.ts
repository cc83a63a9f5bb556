import typia from 'typia';

/** An account of the fleet: signed in, in a region of its own. */
export interface FleetMember {
  connectionId: string;
  username: string;
  /** Lower case. */
  region: string;
  /** Hash id of the account, as its login found it. */
  actorId: string;
}

/** What the fleet needs of an API client. */
export interface FleetClient {
  send(method: 'GET' | 'POST', path: string): Promise<{ body: unknown }>;
  connect(body: { provider: 'social'; username: string; password: string; region: string }): Promise<string>;
  run(connectionId: string, capability: string, input?: object): Promise<FleetOperation>;
}

interface FleetOperation {
  status: string;
  error_code: string | null;
  result: Record<string, unknown> | null;
}

const REGIONS = ['us', 'de', 'gb', 'fr'];

const assertConnection = typia.createAssert<{ external_actor: { id: string } }>();

/** Creates that many connections, spread over the regions, and signs all in at once. Throws when one is not signed in. */
export function signInFleet(client: FleetClient, accounts: number): Promise<FleetMember[]> {
  return Promise.all(
    Array.from({ length: accounts }, async (_, number) => {
      const region = REGIONS[number % REGIONS.length] as string;
      const username = `fleet-${number}`;
      const connectionId = await client.connect({ provider: 'social', username, password: 'sandbox', region });
      const { status, error_code } = await client.run(connectionId, 'social.login');
      if (status !== 'succeeded') throw new Error(`${username} is not signed in: ${status} ${error_code}`);
      const { body } = await client.send('GET', `/v1/connections/${connectionId}`);
      return { connectionId, username, region, actorId: assertConnection(body).external_actor.id };
    }),
  );
}

/** Ends every session: no context may stay open after it. */
export async function disconnectFleet(client: FleetClient, fleet: FleetMember[]): Promise<void> {
  await Promise.all(fleet.map(({ connectionId }) => client.send('POST', `/v1/connections/${connectionId}/disconnect`)));
}
