import { randomBytes, randomUUID } from 'node:crypto';
import t from 'tap';
import { IDLE } from '../../../bench/scenarios/consoles/hour.js';
import { addProxy, noteProxy } from '../../../storage/connections/proxies.js';
import { storeStep } from '../../../storage/overview/steps.js';
import { together } from '../../../storage/overview/tally.js';
import { renewLeases } from '../../../storage/partitions/partitions.js';
import { keyRing } from '../../../storage/secrets/encryption.js';
import { ownService } from '../../fixture/shared-service.js';
import { insertConnections } from '../rows.js';
import { consoleFixture, consoleIn, looksRight, operatorKey, viewsOf } from './console-fixture.js';

const SCRIPT = '<img src=x onerror=alert(1)>';

/** Its nodes and proxies are what the pages show. */
const installation = ownService(t);

t.test('an operator sees who runs which partitions', async (t) => {
  const service = await consoleIn(t, installation);
  const gone = randomUUID();
  await renewLeases(service.db, gone, 60_000);
  await service.db.query('testGone', `update node set heartbeat_at = now() - interval '10 minutes' where id = $1`, [
    gone,
  ]);
  const [alone] = await service.db.query<{ id: string }>('testNode', 'select id from node where id <> $1', [gone]);
  const measures = {
    ...IDLE,
    threads: 1,
    mailboxes: 120,
    queued: 4,
    batch_items: 12.5,
    thread_restarts: 2,
    browsers: 0,
  };
  const step = new Date(Date.now() + 600_000); // behind it none of its own is the newest
  await storeStep(service.db, { nodeId: alone?.id ?? '', step, workspaces: [], together: together([]), measures });
  const key = await operatorKey(service);
  for (const view of viewsOf(t)) {
    const page = await service.signedIn('#/nodes', view, key);
    const alive = page.getByRole('row').filter({ hasText: 'alive' });
    await alive.getByText('64 (0–63)').waitFor();
    await alive.getByText('1 thread, 120 mailboxes, 4 queued, 12.5 submissions a statement').waitFor();
    await alive.getByText('2 threads, 0 browsers').waitFor();
    await page
      .getByRole('row')
      .filter({ hasText: gone.slice(-8) })
      .getByText('gone')
      .waitFor();
    t.equal(await page.locator('.partition-map .partition').count(), 64);
    await page.getByText('Every partition with its lease').click();
    await page.getByRole('row').nth(66).waitFor();
    await looksRight(t, page, 'nodes');
  }
  t.strictSame(service.complaints, []);
});

t.test('an operator sees the proxies of each region, and how many connections use each', async (t) => {
  const service = await consoleIn(t, installation);
  const { db, workspaceId } = service;
  const ring = keyRing([{ id: 'test', key: randomBytes(32) }]);
  const credentials = { username: 'grace', password: 'hopper' };
  const { id } = await addProxy(db, ring, { region: 'jp', url: 'http://proxy.test:8080', ...credentials });
  await addProxy(db, ring, { region: 'jp', url: `http://${SCRIPT}:8080` });
  await noteProxy(db, id, 'refused');
  await db.query('testOff', `update regional_proxy set active = false where url like '%onerror%'`, []);
  await insertConnections(db, workspaceId, 3);
  await db.query('testMoveProxy', 'update connection set proxy_id = $1 where workspace_id = $2', [id, workspaceId]);
  const key = await operatorKey(service);
  for (const view of viewsOf(t)) {
    const page = await service.signedIn('#/proxies', view, key);
    const japan = page.getByRole('row').filter({ hasText: 'Japan (JP)' });
    await japan
      .filter({ hasText: `http://${SCRIPT}:8080` })
      .getByText('not offered')
      .waitFor();
    t.match(await japan.filter({ hasText: 'http://proxy.test:8080' }).textContent(), /8080OfferedFails.*3yes/);
    t.notMatch(await page.getByRole('main').textContent(), /grace|hopper/);
    await looksRight(t, page, 'proxies');
  }
  t.strictSame(service.complaints, []);
});

t.test('what is about the installation is not for a key of a workspace', async (t) => {
  const service = await consoleFixture(t);
  for (const title of ['Nodes', 'Proxies']) {
    const page = await service.signedIn(`#/${title.toLowerCase()}`);
    await page.getByText('This page needs the key of an operator.').waitFor();
    t.equal(await page.getByRole('link', { name: title }).count(), 0);
  }
  t.strictSame(service.complaints, []);
});
