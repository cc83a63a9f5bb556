import t from 'tap';
import { storeHour } from '../../../bench/consoles/hour.js';
import { setOwnLimit } from '../../../storage/workspaces/limits.js';
import { noteStored } from '../../../storage/workspaces/stored.js';
import { consoleFixture, keyWithout, looksRight, operatorKey, signIn, VIEWS } from './console-fixture.js';

t.test('what needs attention stands first, with its cause and a way to it, and what happened below', async (t) => {
  const service = await consoleFixture(t);
  const { client, db, workspaceId, signedIn, complaints } = service;
  await storeHour(db, workspaceId);
  const person = (id: string) => client.connect({ provider: 'simulated', external_actor: { kind: 'person', id } });
  const hostile = await person('<img src=x onerror=alert(1)>');
  await db.query(
    'testUnready',
    `update connection set health = 'needs_login', health_reason = 'disconnected' where id = $1`,
    [hostile],
  );
  await setOwnLimit(db, { workspace_id: workspaceId, name: 'stored_mib', value: 2 });
  await noteStored(db, new Map([[workspaceId, 3 * 2 ** 20]]));
  for (const view of VIEWS) {
    const page = await signedIn('', view);
    await page.getByRole('heading', { name: 'Overview', exact: true }).waitFor();
    const unready = page.getByRole('region', { name: 'Connections that are not ready' });
    await unready.getByText('It was disconnected.').waitFor();
    t.match(await unready.textContent(), /<img src=x onerror=alert\(1\)>/, 'text is text');
    t.equal(await unready.getByRole('link').getAttribute('href'), `#/connections/${hostile}`);
    await page.getByRole('region', { name: 'Operations', exact: true }).waitFor();
    await page.locator('.plot canvas').nth(2).waitFor();
    t.equal(await page.locator('.plot canvas').count(), 3);
    t.match(await page.getByRole('region', { name: 'Operations', exact: true }).textContent(), /accepted \d{4}/);
    const limits = page.getByRole('region', { name: 'Limits' });
    await limits.getByText('0 of 100,000').waitFor();
    await limits.getByText('3 of 2 Used up').waitFor();
    await page.getByText('Up to date').waitFor();
    await looksRight(t, page, 'overview');
  }
  t.strictSame(complaints, [], 'no error, no violation of the policy, nothing from elsewhere');
});

t.test('a change shows by itself, and a service that is gone is told', async (t) => {
  const { client, db, signedIn, kill } = await consoleFixture(t);
  const ann = await client.connect({ provider: 'simulated', external_actor: { kind: 'person', id: 'ann' } });
  const page = await signedIn();
  await page.getByText('Nothing needs anybody now.').waitFor();
  await db.query(
    'testUnready',
    `update connection set health = 'needs_login', health_reason = 'disconnected' where id = $1`,
    [ann],
  );
  await client.connect({ provider: 'simulated', external_actor: { kind: 'person', id: 'bob' } });
  await page.getByText('It was disconnected.').waitFor();
  await kill();
  await page.getByText('No connection to the service').waitFor();
  t.ok(await page.getByText('It was disconnected.').isVisible(), 'what was there stays');
});

t.test('an operator sees the installation, and a key without the scope sees no overview', async (t) => {
  const service = await consoleFixture(t);
  const { db, workspaceId, open, complaints } = service;
  await storeHour(db, workspaceId);
  await db.query(
    'testProxy',
    `insert into regional_proxy (id, region, url) values (gen_random_uuid(), 'SE', 'http://proxy.test:1')`,
  );
  for (const view of VIEWS) {
    const page = await open('#/installation', view);
    await signIn(page, await operatorKey(service));
    await page.getByText('No connection of SE uses it.').waitFor();
    await page.locator('.plot canvas').nth(7).waitFor();
    t.equal(await page.locator('.plot canvas').count(), 8);
    await looksRight(t, page, 'installation');
  }
  const narrow = await open('#/overview');
  await signIn(narrow, (await keyWithout(service, 'operations:read')).key);
  await narrow.getByText('This page needs a key with the scope operations:read.').waitFor();
  t.equal(await narrow.getByRole('link', { name: 'Overview' }).count(), 0);
  t.equal(await narrow.getByRole('link', { name: 'Installation' }).count(), 0);
  t.strictSame(complaints, []);
});
