import { randomUUID } from 'node:crypto';
import t from 'tap';
import { recordAudit } from '../../../storage/audit/record.js';
import { createKey } from '../../../storage/workspaces/keys.js';
import { consoleFixture, keyWithout, looksRight, operatorKey, VIEWS } from './console-fixture.js';

const SCRIPT = '<img src=x onerror=alert(1)>';

t.test('who did what shows in words, page by page, in the workspace alone and to operators over all', async (t) => {
  const service = await consoleFixture(t, { BROWSER_PATH: '/bin/false' });
  const { client, db, workspaceId } = service;
  const ann = await client.connect({ provider: 'simulated', external_actor: { kind: 'person', id: 'ann' } });
  await client.submit(ann, 'social.health.check', {});
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
      ...{ actor: elsewhere, workspaceId: randomUUID(), action: 'key.create', requestId: null },
      targets: [['key', randomUUID()]],
    });
  });
  const operator = await operatorKey(service);
  for (const [i, view] of VIEWS.entries()) {
    const page = await service.signedIn('#/audit', view);
    const entry = (text: string) => page.getByRole('row').filter({ hasText: text });
    await entry('A session of the console began.').first().getByText('At the console with a key').waitFor();
    await entry('limit: connections, value: 29').getByText('192.0.2.7').waitFor();
    t.notMatch(await page.getByRole('main').textContent(), /of a stranger/);
    await looksRight(t, page, 'audit');
    await page.getByRole('link', { name: 'Next page' }).click();
    await entry('Operations were submitted').getByRole('link').last().waitFor();
    await page.getByLabel('Action').selectOption('connection.create');
    await entry('A connection was made.')
      .getByRole('link', { name: `…${ann.slice(-8)}` })
      .waitFor();
    await entry('Operations were submitted').waitFor({ state: 'detached' });
    await entry('A connection was made.').waitFor();
    t.equal(await page.getByRole('row').count(), 2, 'nothing else');
    await page.getByLabel('Action').selectOption('');
    await entry('value: 28').getByRole('link', { name: SCRIPT }).click();
    await page.getByText('What was done by').waitFor();
    await page.getByRole('link', { name: 'Show all' }).click();
    if (i > 0) continue;
    const all = await service.signedIn('#/audit-all', view, operator);
    await all.getByLabel('Action').selectOption('key.create'); // others submit all the time
    await all
      .getByRole('row')
      .filter({ hasText: 'of a stranger' })
      .getByText('A key of a workspace was made.')
      .waitFor();
    await looksRight(t, all, 'audit-of-all');
  }
  t.strictSame(service.complaints, []);
});

t.test('a key without the scope sees no audit log', async (t) => {
  const service = await consoleFixture(t, { BROWSER_PATH: '/bin/false' });
  const page = await service.signedIn('#/audit', VIEWS[0], (await keyWithout(service, 'connections:write')).key);
  await page.getByText('This page needs a key with the scope connections:write.').waitFor();
  t.equal(await page.getByRole('link', { name: 'Audit' }).count(), 0);
});
