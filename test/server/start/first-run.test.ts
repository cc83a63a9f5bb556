import { execFile } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { checkCallback } from '../../../actors/deliveries/callback/callback-guard.js';
import { banner, baseAddress, readyLine } from '../../../server/start/banner.js';
import {
  ensureDemoKey,
  refuseForgottenProvider,
  removeSandboxProxies,
  useSandboxProxies,
  withDemoReceiver,
} from '../../../server/start/first-run.js';
import { type Config, readConfig } from '../../../server/start/settings/config.js';
import { listAudit } from '../../../storage/audit/entries.js';
import {
  activeProxyFor,
  addProxy,
  isSandboxProxy,
  listProxies,
  openProxy,
} from '../../../storage/connections/proxies.js';
import { createLogger } from '../../../storage/log/log.js';
import { SCOPES } from '../../../storage/model/records.js';
import type { Database } from '../../../storage/postgres/database.js';
import { keyRing } from '../../../storage/secrets/encryption.js';
import { findUsableKey, revokeKey } from '../../../storage/workspaces/keys.js';
import { listWorkspaces } from '../../../storage/workspaces/workspaces.js';
import { freshDatabase } from '../../fixture/database.js';
import { insertSimulated, insertWorkspace } from '../../fixture/rows.js';
import { startedNetwork } from '../../sandbox/fixture.js';

const config = (t: Test, env: Record<string, string> = {}): Config => readConfig({ DATA_DIR: t.testdir(), ...env });
/** What the audit log has, oldest first. */
async function recorded(db: Database) {
  const filter = { workspaceId: null, actorId: null, action: null, targetId: null, since: null, until: null };
  const { entries } = await listAudit(db, filter, null, 100);
  return entries.reverse().map(({ action, actor_kind, details, target_ids }) => {
    return { action, actor_kind, command: details?.command, target_ids };
  });
}
const byStart = { actor_kind: 'command_line', command: 'start' };

const ring = keyRing([{ id: 'one', key: Buffer.alloc(32, 1) }]);
const log = createLogger({ level: 'silent', format: 'json' }, {});
const addresses = {
  url: 'http://127.0.0.1:8080',
  metricsUrl: 'http://127.0.0.1:9090',
  sandboxControlUrl: 'http://127.0.0.1:7000',
};

t.test('the demo key has every scope and is the same at the next start', async (t) => {
  const { db } = await freshDatabase(t);
  const settings = config(t);
  const key = (await ensureDemoKey(settings, db)) ?? '';
  const row = await findUsableKey(db, key);
  t.same(row?.scopes, SCOPES);
  t.equal(await ensureDemoKey(settings, db), key);
  const file = join(settings.dataDir, 'demo-key');
  t.equal(readFileSync(file, 'utf8').trim(), key);
  t.equal(statSync(file).mode & 0o777, 0o600);
  await revokeKey(db, row?.id ?? '');
  const next = await ensureDemoKey(settings, db);
  t.not(next, key, 'a revoked one is replaced');
  const [workspace, ...others] = await listWorkspaces(db);
  t.same(others, [], 'in the same workspace');
  t.strictSame(
    await recorded(db),
    [
      { action: 'workspace.create', ...byStart, target_ids: [workspace?.id] },
      { action: 'key.create', ...byStart, target_ids: [row?.id] },
      { action: 'key.create', ...byStart, target_ids: [(await findUsableKey(db, next ?? ''))?.id] },
    ],
    'what a start made is in the audit log, and what it found is not',
  );
});

t.test('a database given by address gets no demo key', async (t) => {
  const { db, url } = await freshDatabase(t);
  t.equal(await ensureDemoKey(config(t, { DATABASE_URL: url }), db), null);
  t.same(await listWorkspaces(db), []);
});

t.test('a trial lets callbacks reach the receiver of this machine, and nothing else', async (t) => {
  const trial = await withDemoReceiver(config(t));
  t.equal(trial.callbackAllowedNetworks, null);
  const [receiver, ...others] = trial.callbackAllowedEndpoints;
  t.match(receiver, { address: /^127\.0\.0\.\d$/, port: 8443 });
  t.strictSame(others, []);
  const policy = { allowedNetworks: [], allowedEndpoints: trial.callbackAllowedEndpoints };
  const verdict = (port: number) => checkCallback(`https://${receiver?.address}:${port}/`, policy);
  t.strictSame(await verdict(8443), { ok: true });
  t.strictSame(await verdict(9090), { ok: false, reason: 'not_public' }, 'its metrics, say');
  t.strictSame(await verdict(443), { ok: false, reason: 'not_public' });
  t.match(readFileSync(trial.callbackCaFile ?? '', 'utf8'), /BEGIN CERTIFICATE/);
  const again = await withDemoReceiver({ ...trial, callbackAllowedEndpoints: [], callbackCaFile: null });
  t.same(again, trial, 'the same at the next start');
  const decided = config(t, { CALLBACK_ALLOWED_NETWORKS: '10.0.0.0/8' });
  t.equal(await withDemoReceiver(decided), decided, 'what an operator sets stays');
  const shared = config(t, { DATABASE_URL: 'postgres://db/x' });
  t.equal(await withDemoReceiver(shared), shared);
});

t.test('a restarted stand-in network keeps its proxies, at new addresses', async (t) => {
  const { db } = await freshDatabase(t);
  const network = (port: number) => ({
    control_url: addresses.sandboxControlUrl,
    origin: 'https://127.0.0.1:1',
    ca_file: '/ca.pem',
    spki: '',
    proxies: ['US', 'DE'].map((region) => ({
      region,
      url: `http://127.0.0.1:${port}`,
      username: 'gate',
      password: `p${port}`,
    })),
  });
  await useSandboxProxies(db, ring, network(1), log);
  const before = await listProxies(db);
  await useSandboxProxies(db, ring, network(2), log);
  const after = await listProxies(db);
  t.same(
    after.map((row) => row.id),
    before.map((row) => row.id),
  );
  const chosen = await activeProxyFor(db, 'us', 'any-connection');
  t.match(chosen && openProxy(ring, chosen), { server: 'http://127.0.0.1:2', username: 'gate', password: 'p2' });
  const [added, ...more] = await recorded(db);
  t.match(added, { action: 'proxy.add', ...byStart });
  t.strictSame(added?.target_ids.toSorted(), before.map(({ id }) => id).sort());
  t.strictSame(more, [], 'those that were there are not added');
});

t.test(
  'a site of its own is not reached through what a trial left, nor the stand-in network beside proxies of its own',
  async (t) => {
    const { db, url } = await freshDatabase(t);
    const proxies = ['US', 'US', 'DE'].map((region, i) => ({ region, url: `http://127.0.0.1:${i + 1}` }));
    await useSandboxProxies(db, ring, { proxies }, log);
    const shared = config(t, { DATABASE_URL: url });
    await refuseForgottenProvider(shared, db);
    const own = await addProxy(db, ring, { region: 'US', url: 'http://proxy.example:3128' });
    await t.rejects(
      refuseForgottenProvider(shared, db),
      /^PROVIDER is not set, and the database has regional proxies of its own/,
    );
    await refuseForgottenProvider(config(t), db);
    await refuseForgottenProvider(config(t, { DATABASE_URL: url, PROVIDER: 'sandbox' }), db);
    const { id } = await insertSimulated(db, await insertWorkspace(db), 'ann');
    const trial = (await listProxies(db)).find(isSandboxProxy);
    await db.query('testPin', 'update connection set proxy_id = $2 where id = $1', [id, trial?.id]);
    await removeSandboxProxies(db, log);
    t.strictSame(
      (await listProxies(db)).map((one) => one.id),
      [own.id],
    );
    const [row] = await db.query<{ proxy_id: string | null }>(
      'testPinned',
      'select proxy_id from connection where id = $1',
      [id],
    );
    t.equal(row?.proxy_id, null, 'the next login pins it');
    const removed = (await recorded(db)).filter(({ action }) => action === 'proxy.remove');
    t.equal(removed.length, 3);
    t.match(removed[0], byStart);
  },
);

t.test('without an encryption key the service goes on without the stand-in network’s proxies', async (t) => {
  const { db } = await freshDatabase(t);
  const proxies = [{ region: 'US', url: 'http://127.0.0.1:1', username: 'gate', password: 'p' }];
  const network = { control_url: '', origin: '', ca_file: '', spki: '', proxies };
  await useSandboxProxies(db, keyRing([]), network, log);
  t.same(await listProxies(db), []);
});

t.test('an address of IPv6 can be asked as it is printed', (t) => {
  t.equal(baseAddress('127.0.0.1', 8080), 'http://127.0.0.1:8080');
  t.equal(baseAddress('localhost', 8080), 'http://localhost:8080');
  t.equal(new URL(baseAddress('::1', 8080)).host, '[::1]:8080');
  t.end();
});

t.test('programs read one line, people read what to paste', async (t) => {
  t.same(JSON.parse(readyLine(addresses)), {
    ready: true,
    url: addresses.url,
    metrics_url: addresses.metricsUrl,
    sandbox_control_url: addresses.sandboxControlUrl,
  });
  const settings = await withDemoReceiver(config(t));
  const text = await banner(settings, addresses, 'cs_demo');
  for (const part of [
    addresses.url,
    'KEY=cs_demo',
    'social.login',
    'social.people.search',
    'callback_url',
    '/stream',
  ]) {
    t.ok(text.includes(part), part);
  }
  t.notMatch(await banner(config(t, { DATABASE_URL: 'postgres://db/x' }), addresses, null), /KEY=/);

  const { control_url } = await startedNetwork(t);
  const [steering = ''] = /curl -sS "\$CONTROL[\s\S]*?"\n/.exec(text) ?? [];
  const script = `CONTROL=${control_url} ACCOUNT=ada\n${steering}`;
  const { stdout } = await promisify(execFile)('bash', ['-euc', script]);
  t.match(JSON.parse(stdout), { event_id: String, delivered: false }, 'and what steers the network is taken');
});
