import t from 'tap';
import { storeHour } from '../../../bench/scenarios/consoles/hour.js';
import { noteStored } from '../../../storage/maintenance/stored.js';
import { setOwnLimit } from '../../../storage/workspaces/limits.js';
import { ownService } from '../../fixture/shared-service.js';
import { consoleIn, keyWith, keyWithout, looksRight, operatorKey, signIn, viewsOf } from './console-fixture.js';

/** The last test ends it. */
const installation = ownService(t);

t.test('what needs attention stands first, with its cause and a way to it, and what happened below', async (t) => {
  const service = await consoleIn(t, installation);
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
  // Nothing of it is stored, as a measurement would find.
  await db.query('testUnmeasured', `update stored_turn set workspace_id = null, due_at = now() + interval '1 day'`);
  await noteStored(db, new Map([[workspaceId, 3 * 2 ** 20]]));
  for (const view of viewsOf(t)) {
    const page = await signedIn('', view);
    await page.getByRole('heading', { name: 'Overview', exact: true }).waitFor();
    const unready = page.getByRole('region', { name: 'Connections that are not ready' });
    await unready.getByText('It was disconnected.').waitFor();
    await unready.getByRole('link', { name: '<img src=x onerror=alert(1)>' }).waitFor();
    t.match(await unready.textContent(), /<img src=x onerror=alert\(1\)>/, 'text is text');
    t.equal(await unready.getByRole('link').getAttribute('href'), `#/connections/${hostile}`);
    const operations = page.getByRole('region', { name: 'Operations a second' });
    await operations.waitFor();
    await page.locator('.plot canvas').nth(2).waitFor();
    t.equal(await page.locator('.plot canvas').count(), 3);
    t.strictSame(await operations.getByRole('columnheader').allTextContents(), ['Now', 'Average', 'Highest']);
    const accepted = operations.getByRole('row').filter({ hasText: 'accepted' }).getByRole('cell');
    const [now = '', average = '', highest = ''] = await accepted.allTextContents();
    t.match([now, average, highest], [/^[\d.]+\/s$/, /^[\d.]+\/s$/, /^[\d.]+\/s$/], 'rates with their unit');
    t.ok(Number.parseFloat(average) > 1 && Number.parseFloat(highest) < 6, 'a second, of 5 to 39 in ten');
    const times = page.getByRole('region', { name: 'Time from acceptance to the end' });
    t.match(await times.getByRole('row').filter({ hasText: 'p99' }).getByRole('cell').last().textContent(), / m?s$/);
    const limits = page.getByRole('region', { name: 'Limits' });
    await limits.getByText('0 of 100,000').waitFor();
    await limits.getByText('3 of 2 Used up').waitFor();
    await page.getByText('Up to date').waitFor();
    await looksRight(t, page, 'overview');
  }
  t.strictSame(complaints, [], 'no error, no violation of the policy, nothing from elsewhere');
});

t.test('an operator sees the installation, and a key without its scopes begins elsewhere', async (t) => {
  const service = await consoleIn(t, installation);
  const { db, workspaceId, open, complaints } = service;
  await storeHour(db, workspaceId);
  await db.query(
    'testProxy',
    `insert into regional_proxy (id, region, url) values (gen_random_uuid(), 'SE', 'http://proxy.test:1')`,
  );
  for (const view of viewsOf(t)) {
    const page = await open('#/installation', view);
    await signIn(page, await operatorKey(service));
    await page.getByText('No connection of SE uses it.').waitFor();
    await page.locator('.plot canvas').nth(7).waitFor();
    t.equal(await page.locator('.plot canvas').count(), 8);
    await looksRight(t, page, 'installation');
  }
  const needs = 'This page needs a key with the scopes operations:read and connections:read.';
  for (const scope of ['operations:read', 'connections:read'] as const) {
    const narrow = await open('#/overview');
    await signIn(narrow, (await keyWithout(service, scope)).key);
    await narrow.getByText(needs).waitFor();
    t.equal(await narrow.getByRole('link', { name: 'Overview' }).count(), 0);
    t.equal(await narrow.getByRole('link', { name: 'Installation' }).count(), 0);
  }
  const reader = await open();
  const refused: string[] = [];
  await signIn(reader, (await keyWith(service, 'operations:read')).key);
  reader.on('response', (answer) => answer.status() === 403 && refused.push(answer.url()));
  await reader.reload();
  await reader.getByRole('heading', { name: 'Operations' }).waitFor();
  await reader.getByText('There is no such operation.').waitFor();
  t.strictSame(refused, [], 'its first page is one that it may see');
  t.strictSame(complaints, []);
});

t.test('a change shows by itself, and a service that is gone is told', async (t) => {
  const { client, db, signedIn, kill } = await consoleIn(t, installation);
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
