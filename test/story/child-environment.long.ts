import { readdir, readFile } from 'node:fs/promises';
import t from 'tap';
import { Client } from '../fixture/client.js';
import { serviceFixture, startService } from '../fixture/service.js';

const GATEWAY = { GATEWAY_CLIENT_ID: 'the-gateway', GATEWAY_CLIENT_SECRET: 'gateway-marker-5f1d2a' };
const MARKER = 'neighbour-marker-77ab31';

/** The customer behind the gateway, whose headers every request carries. */
class GatewayClient extends Client {
  override send(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: unknown, headers = {}) {
    const gateway = {
      'user-agent': 'child-environment-test',
      'gateway-access-client-id': GATEWAY.GATEWAY_CLIENT_ID,
      'gateway-access-client-secret': GATEWAY.GATEWAY_CLIENT_SECRET,
    };
    return super.send(method, path, body, { ...gateway, ...headers });
  }
}

t.test('no process that the service starts gets a secret in its environment', async (t) => {
  const fixture = await serviceFixture(t, { ...GATEWAY, SECRET_MARKER: MARKER });
  const { DATABASE_URL: _, ...embedded } = fixture.env;
  const service = await startService(t, { ...fixture, env: embedded });
  t.teardown(() => service.stop());
  const key = (await readFile(`${fixture.dataDir}/demo-key`, 'utf8')).trim();
  const client = new GatewayClient(service.url, key);
  const account = { provider: 'social', username: 'grace', password: 'sandbox', region: 'de' };
  const login = await client.run(await client.connect(account), 'social.login');
  t.match(login, { status: 'succeeded' });

  const descendants = await descendantsOf(service.process.pid ?? 0);
  for (const one of [/chrom/, /bench\/sandbox\/main\.js/, /postgres\/keeper\.js/, /bin\/postgres/]) {
    t.ok(
      descendants.some(({ command }) => one.test(command)),
      `${one} runs`,
    );
  }
  const sealing = String(fixture.env.ENCRYPTION_KEYS).split(':')[1] as string;
  for (const { command, environment } of descendants) {
    const leaked = [sealing, MARKER, GATEWAY.GATEWAY_CLIENT_SECRET].filter((secret) =>
      environment.join().includes(secret),
    );
    t.strictSame(leaked, [], command);
  }
});

interface Descendant {
  command: string;
  environment: string[];
}

/** Every process below this one that lives, with what it was started with. */
async function descendantsOf(root: number): Promise<Descendant[]> {
  const pids = (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry)).map(Number);
  const parents = new Map<number, number>();
  for (const pid of pids) {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
    parents.set(pid, Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
  }
  const isBelow = (pid: number): boolean => {
    const parent = parents.get(pid);
    return parent === root || (parent !== undefined && parent > 1 && isBelow(parent));
  };
  const found: Descendant[] = [];
  for (const pid of pids.filter(isBelow)) {
    const [command, environment] = await Promise.all(
      ['cmdline', 'environ'].map((file) => readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '')),
    );
    found.push({ command: (command ?? '').replaceAll('\0', ' '), environment: (environment ?? '').split('\0') });
  }
  return found;
}
