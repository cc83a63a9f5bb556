import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import { until } from '../actors/deliveries/host.js';
import type { Client } from '../fixture/client.js';

/** What the stories about callbacks do through the API, as a customer would. */

/** Settings under which the service trusts receivers with certificates of `ca`, and starts no browser. */
export async function trusting(t: Test, ca: string): Promise<Record<string, string>> {
  const dir = await mkdtemp(join(tmpdir(), 'callbacks-'));
  t.teardown(() => rm(dir, { recursive: true, force: true }));
  const CALLBACK_CA_FILE = join(dir, 'ca.pem');
  await writeFile(CALLBACK_CA_FILE, ca);
  return { CALLBACK_CA_FILE, BROWSER_PATH: '/bin/false' };
}

/** A new simulated connection. */
export const connect = (client: Client): Promise<string> =>
  client.connect({ provider: 'simulated', external_actor: { kind: 'person', id: randomUUID() } });

/** Gives the id of a new subscription to messages received. */
export async function subscribe(
  client: Client,
  connection: string,
  callback_url: string,
  secret?: string,
): Promise<string> {
  const { status, body } = await client.send('POST', `/v1/connections/${connection}/subscriptions`, {
    event_types: ['message_received'],
    callback_url,
    ...(secret !== undefined && { secret }),
  });
  if (status !== 201) throw new Error(`${callback_url}: ${status} ${JSON.stringify(body)}`);
  return String(body.id);
}

/** Gives the id of a new event. */
export async function emit(client: Client, connection: string): Promise<string> {
  const { body } = await client.send('POST', `/v1/connections/${connection}/simulated-events`, {
    type: 'message_received',
    data: {},
  });
  return String(body.id);
}

export interface Attempt {
  sequence: number;
  outcome: string;
  status_code: number | null;
  error: string | null;
  started_at: string;
  completed_at: string;
}

/** The attempts of a subscription's newest delivery that are over, once there are `enough`. */
export async function attempts(client: Client, subscription: string, enough = 1): Promise<Attempt[]> {
  return until(
    async () => {
      const { body } = await client.send('GET', `/v1/subscriptions/${subscription}/deliveries`);
      const [newest] = body.deliveries as { id: string }[];
      if (!newest) return [];
      const detail = await client.send('GET', `/v1/deliveries/${newest.id}`);
      return (detail.body.attempts as Attempt[]).filter(({ outcome }) => outcome !== 'sending');
    },
    (over) => over.length >= enough,
  );
}
