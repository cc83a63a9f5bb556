import { randomUUID } from 'node:crypto';
import t from 'tap';
import { recordAudit } from '../../../storage/audit/record.js';
import { createKey } from '../../../storage/workspaces/keys.js';
import { createWorkspace } from '../../../storage/workspaces/workspaces.js';
import { consoleFixture, keyWith, keyWithout, looksRight, operatorKey, VIEWS, viewsOf } from './console-fixture.js';

const SCRIPT = '<img src=x onerror=alert(1)>';

t.test('who did what shows in words, page by page, in the workspace alone and to operators over all', async (t) => {
  const service = await consoleFixture(t);
  const { client, db, workspaceId } = service;
  const ann = await client.connect({ provider: 'simulated', external_actor: { kind: 'person', id: 'ann' } });
  await client.submit(ann, 'social.health.check', {});
  const { id: stranger } = await createWorkspace(db, 'Strangers');
  const strange = randomUUID();
  const hostile = await createKey(db, {
    ...{ workspaceId, name: SCRIPT, scopes: ['operations:read'], networks: null, expiresAt: null },
  });
  const actor = { kind: 'key' as const, id: hostile?.row.id ?? '', name: SCRIPT, address: '192.0.2.7' };
  await db.transaction(async (tx) => {
    for (let n = 0; n < 30; n++)
      await recordAudit(tx, {
        ...{ actor, workspaceId, action: 'limit.set', requestId: null, targets: [['workspace', workspaceId]] },
        details: { limit: 'connections', value: n },
      });
    const elsewhere = { ...actor, name: 'of a stranger' };
    await recordAudit(tx, {
      ...{ actor: elsewhere, workspaceId: stranger, action: 'connection.disconnect', requestId: null },
      targets: [['connection', strange]],
    });
  });
  const operator = await operatorKey(service);
  for (const view of viewsOf(t)) {
    const page = await service.signedIn('#/audit', view);
    const entry = (text: string) => page.getByRole('row').filter({ hasText: text });
    await entry('A session of the console began.').first().getByText('At the console with a key').waitFor();
    await entry('limit: connections, value: 29').getByText('192.0.2.7').waitFor();
    t.notMatch(await page.getByRole('main').textContent(), /of a stranger/);
    await looksRight(t, page, 'audit');
    await page.getByRole('link', { name: 'Next page' }).click();
    await entry('Operations were submitted').getByRole('link').last().waitFor();
    await page.getByLabel('Action').selectOption('connection.create');
    await entry('A connection was made.').getByRole('link', { name: 'ann' }).waitFor();
    await entry('Operations were submitted').waitFor({ state: 'detached' });
    await entry('A connection was made.').waitFor();
    t.equal(await page.getByRole('row').count(), 2, 'nothing else');
    await page.getByLabel('Action').selectOption('');
    await entry('value: 28').getByRole('link', { name: SCRIPT }).click();
    await page.getByText('What was done by').waitFor();
    await page.getByRole('link', { name: 'Show all' }).click();
    await page.getByLabel('Until').fill('2020-01-01T00:00');
    await page.getByLabel('Since').focus();
    await page.getByText('Nothing like this was done.').waitFor();

    const all = await service.signedIn(`#/audit-all?workspace=${workspaceId}`, view, operator);
    await all.getByLabel(/^Workspace/).selectOption('Strangers');
    const strangers = all.getByRole('row').filter({ hasText: 'of a stranger' });
    await strangers.getByText('Strangers').waitFor();
    await all.getByRole('row').filter({ hasText: 'value: 29' }).waitFor({ state: 'detached' });
    t.equal(await all.getByRole('row').count(), 2, 'of that workspace alone');
    await looksRight(t, all, 'audit-of-all');
    const link = strangers.getByRole('link', { name: `…${strange.slice(-8)}` });
    t.equal(await link.getAttribute('href'), `#/connections/${strange}?workspace=${stranger}`, 'where it was done');
    await all.getByLabel(/^Workspace/).selectOption('');
    await all.getByLabel('Since').fill('2999-01-01T00:00');
    await all.keyboard.press('Enter');
    await all.getByText('Nothing like this was done.').waitFor();
  }
  t.strictSame(service.complaints, []);
});

t.test('a key without the scope sees no audit log', async (t) => {
  const service = await consoleFixture(t);
  const page = await service.signedIn('#/audit', VIEWS[0], (await keyWithout(service, 'connections:write')).key);
  await page.getByText('This page needs a key with the scope connections:write.').waitFor();
  t.equal(await page.getByRole('link', { name: 'Audit' }).count(), 0);

  const ann = await service.client.connect({ provider: 'simulated', external_actor: { kind: 'person', id: 'ann' } });
  await service.client.submit(ann, 'social.health.check', {});
  const narrow = await service.signedIn('#/audit', VIEWS[0], (await keyWith(service, 'connections:write')).key);
  const submitted = narrow.getByRole('row').filter({ hasText: 'Operations were submitted' }).first();
  await submitted.waitFor();
  t.equal(
    await submitted.getByRole('cell').nth(3).getByRole('link').count(),
    0,
    'no way to a page that it may not open',
  );
});
