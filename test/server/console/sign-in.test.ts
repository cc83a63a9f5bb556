import t from 'tap';
import { CONTENT_SECURITY_POLICY } from '../../../server/console/pages.js';
import { revokeKey } from '../../../storage/workspaces/keys.js';
import { createWorkspace } from '../../../storage/workspaces/workspaces.js';
import { ownService } from '../../fixture/shared-service.js';
import { longTest } from '../../fixture/size.js';
import {
  consoleFixture,
  consoleIn,
  keyWith,
  looksRight,
  operatorKey,
  signIn,
  VIEWS,
  viewsOf,
} from './console-fixture.js';

t.test('the holder of a key signs in by keyboard alone, and out again', async (t) => {
  const { open, client, key, complaints, url } = await consoleFixture(t);
  await client.connect({ provider: 'simulated', external_actor: { kind: 'person', id: 'ada' } });
  for (const view of viewsOf(t)) {
    const page = await open('#/connections', view);
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await looksRight(t, page, 'sign-in');
    await page.keyboard.press('Tab');
    await page.keyboard.type('cs_wrong');
    await page.keyboard.press('Enter');
    await page.getByText('This key is not known').waitFor();
    await looksRight(t, page, 'sign-in-refused');
    await page.getByLabel('Key').fill(key);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Connections' }).waitFor();
    await page.getByRole('link', { name: 'ada' }).waitFor();
    await looksRight(t, page, 'connections-first');
    t.notOk(
      ((await page.evaluate('JSON.stringify([{...localStorage}, {...sessionStorage}])')) as string).includes(key),
      'the key is kept nowhere',
    );
    await page.reload();
    await page.getByRole('link', { name: 'ada' }).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    t.notOk(await page.getByText('Your session has ended').isVisible());
  }
  const { headers } = await fetch(`${url}/console`);
  t.match(Object.fromEntries(headers), {
    'content-security-policy': CONTENT_SECURITY_POLICY,
    'cache-control': 'no-store',
  });
  t.strictSame(complaints, [], 'no error, no violation of the policy, nothing from elsewhere');
});

longTest(t, 'a session that has ended leads to the sign-in, and back to where one was', async (t) => {
  const service = await consoleFixture(t);
  const narrow = await keyWith(service, 'connections:read');
  const place = '#/connections?health=ready';
  const page = await service.signedIn(place, VIEWS[0], narrow.key);
  await page.getByRole('heading', { name: 'Connections' }).waitFor();
  await revokeKey(service.db, narrow.row.id);
  await page.getByText('Your session has ended').waitFor();
  t.ok(page.url().endsWith(place));
  await signIn(page, service.key);
  await page.getByRole('heading', { name: 'Connections' }).waitFor();
  t.ok(page.url().endsWith(place));
  t.strictSame(service.complaints, []);
});

t.test('a key opens only the pages that its scopes allow', async (t) => {
  const service = await consoleFixture(t);
  const { key } = await keyWith(service, 'events:read');
  const page = await service.signedIn('#/connections', VIEWS[0], key);
  await page.getByText('This page needs a key with the scope connections:read.').waitFor();
  t.equal(await page.getByRole('link', { name: 'Connections' }).count(), 0);
  await page.goto(`${service.url}/console#/nowhere`);
  await page.getByRole('heading', { name: 'No such page' }).waitFor();
  t.strictSame(service.complaints, []);
});

longTest(t, 'an operator chooses a workspace by its name, and changes it', async (t) => {
  const service = await consoleIn(t, ownService(t));
  await createWorkspace(service.db, 'Grün & <b>Söhne</b>');
  await service.client.connect({ provider: 'simulated', external_actor: { kind: 'person', id: 'ada' } });
  for (const view of viewsOf(t)) {
    const page = await service.signedIn('', view, await operatorKey(service));
    await page.getByRole('heading', { name: 'Choose a workspace' }).waitFor();
    await page.getByRole('link', { name: 'Grün & <b>Söhne</b>' }).waitFor();
    await looksRight(t, page, 'workspaces');
    await page.getByLabel('Name').fill('TES');
    await page.locator(`a[href*="${service.workspaceId}"]`).click();
    await page.getByRole('heading', { name: 'Overview', exact: true }).waitFor();
    await page.getByRole('link', { name: 'Connections', exact: true }).click();
    await page.getByRole('link', { name: 'ada' }).waitFor();
    t.match(page.url(), `workspace=${service.workspaceId}`);
    await page.getByRole('link', { name: 'Change' }).click();
    await page.getByRole('link', { name: 'Grün & <b>Söhne</b>' }).click();
    await page.getByRole('link', { name: 'Connections', exact: true }).click();
    await page.getByText('There is no connection yet.').waitFor();
    await looksRight(t, page, 'operator');
  }
  t.strictSame(service.complaints, []);
});
