import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Test } from 'tap';
import { Client } from '../fixture/client.js';
import { serviceSettings, startService } from '../fixture/service.js';

const ADMIN = fileURLToPath(new URL('../../server/admin.js', import.meta.url));
const SCOPES = 'connections:read,connections:write,operations:read,operations:write,events:read,social:send';

const simulated = (id: string) => ({ provider: 'simulated', external_actor: { kind: 'person', id } });

/**
 * A database of this address as an operator and a client see it: the service starts and makes its tables, a key is made with the command
 * line, and a message of one simulated connection arrives at another.
 */
export async function shortStory(t: Test, databaseUrl: string): Promise<void> {
  const env = await serviceSettings(t, databaseUrl, { BROWSER_PATH: '/bin/false' });
  const service = await startService(t, { env, key: '' });
  const admin = async (...args: string[]) =>
    JSON.parse((await promisify(execFile)(process.execPath, [ADMIN, ...args], { env })).stdout);
  const { workspace_id } = await admin('workspace', 'create', '--name', 'acme');
  const { key } = await admin('key', 'create', '--workspace', workspace_id, '--scopes', SCOPES);
  const client = new Client(service.url, key);
  const [ada, grace] = [await client.connect(simulated('ada')), await client.connect(simulated('grace'))];
  const input = { recipient_actor_id: 'grace', body: 'Hello Grace' };
  t.match(await client.run(ada, 'social.message.send', input), { status: 'succeeded' });
  const { body } = await client.send('GET', `/v1/connections/${grace}/events`);
  t.match(body.events, [{ type: 'message_received' }]);
  const listed = await client.send('GET', `/v1/operations?connection_id=${ada}`);
  t.match(listed, { status: 200, body: { operations: [{ capability: 'social.message.send', status: 'succeeded' }] } });
  t.equal(await service.stop(), 0, 'it drains');
}
