import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { NetworkProcess } from '../../../../bench/kit/network-process.js';
import { adminProgram } from '../../../../server/admin/program.js';
import { freshDatabase } from '../../../fixture/database.js';
import { withCertificate } from '../../../fixture/network-certificate.js';

t.test('a proxy that cannot be used is not added, unless that is asked for', async (t) => {
  const { url } = await freshDatabase(t);
  const folder = mkdtempSync(join(tmpdir(), 'network-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  await withCertificate(folder);
  const network = await NetworkProcess.start(folder);
  t.teardown(() => network.stop());
  const [proxy] = network.ready.proxies;
  const { host } = new URL(proxy!.url);
  const environment = {
    DATABASE_URL: url,
    ENCRYPTION_KEYS: `old:${Buffer.alloc(32, 1).toString('base64')}`,
    PROVIDER: join(folder, 'provider.json'),
  };
  const admin = async (...args: string[]) => JSON.parse((await adminProgram(environment, ['proxy', ...args])).text);
  const add = (address: string, ...more: string[]) => admin('add', '--region', 'US', '--url', address, ...more);

  const wrong = `http://${proxy!.username}:hunter2@${host}`;
  await t.rejects(add(wrong), {
    message: `the proxy at http://${host} cannot be used: it refuses the name and the password (--untried adds it all the same)`,
  });
  t.strictSame((await admin('list')).proxies, []);
  t.match(await add(wrong, '--untried'), { region: 'US', tried: null });
  t.match(await add(`http://${proxy!.username}:${encodeURIComponent(proxy!.password)}@${host}`), {
    tried: { service: 'works', browser: 'works' },
  });
  t.match(await add('http://127.0.0.1:1'), { tried: { service: 'unreachable', browser: 'not_tried' } });
  t.equal((await admin('list')).proxies.length, 3);
});
