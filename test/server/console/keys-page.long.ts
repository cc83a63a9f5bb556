import type { Page } from 'playwright';
import t from 'tap';
import { createKey } from '../../../storage/workspaces/keys.js';
import { eventually } from '../../fixture/eventually.js';
import { consoleFixture, keyWithout, looksRight, operatorKey, VIEWS, viewsOf } from './console-fixture.js';

const SCRIPT = '<img src=x onerror=alert(1)>';
const DAY_ms = 86_400_000;

const keyRow = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name });

async function confirmed(page: Page, name: string, label: string): Promise<void> {
  await keyRow(page, name).last().getByRole('button', { name: label }).click();
  await page.getByRole('dialog').getByRole('button', { name: label }).click();
}

/** The key that is shown, which is then put away. */
async function stored(page: Page): Promise<string> {
  const secret = page.getByRole('region', { name: 'The new key' });
  const key = String(await secret.locator('code').textContent());
  await secret.getByRole('button', { name: 'Copy the key' }).click();
  await secret.getByText('Copied').waitFor();
  await secret.getByRole('button', { name: 'I have stored it' }).click();
  await secret.waitFor({ state: 'detached' });
  return key;
}

t.test('an operator makes a key, sees it once, rotates and revokes it', async (t) => {
  const service = await consoleFixture(t);
  const operator = await operatorKey(service);
  const works = async (key: string) => {
    const headers = { authorization: `Bearer ${key}` };
    return (await fetch(`${service.url}/v1/subscriptions`, { headers })).status === 200;
  };
  for (const [i, view] of viewsOf(t).entries()) {
    const name = `${SCRIPT} ${i}`;
    const page = await service.signedIn(`#/keys?workspace=${service.workspaceId}`, view, operator);
    const answers: Promise<string>[] = [];
    page.on('response', (answer) => {
      if (!answer.url().endsWith('/console/live')) answers.push(answer.text().catch(() => '')); // which does not end
    });
    await page.getByRole('button', { name: 'Make a key' }).click();
    await page.getByRole('button', { name: 'Make the key' }).click();
    await page.getByText('Choose what may be done with it.').waitFor();
    await looksRight(t, page, 'key-form');
    await page.getByLabel('Name', { exact: true }).fill(name);
    await page.getByLabel('Expires').fill(new Date(Date.now() + 3 * DAY_ms).toISOString().slice(0, 16));
    await page.getByLabel('events:read').check();
    await page.getByLabel('Networks').fill('elsewhere');
    await page.getByRole('button', { name: 'Make the key' }).click();
    await page.getByText('expected a network such as 10.0.0.0/8').waitFor();
    await page.getByLabel('Networks').fill('127.0.0.0/8, ::1/128');
    await page.getByRole('button', { name: 'Make the key' }).click();
    await page.getByRole('heading', { name: `The new key ${name}` }).waitFor();
    await page.getByRole('region', { name: 'The new key' }).getByText('It expires in').waitFor();
    await looksRight(t, page, 'key-made');
    const first = await stored(page);
    t.equal(await page.evaluate('navigator.clipboard.readText()'), first);
    t.ok(await works(first));
    await keyRow(page, name).getByText('expires soon').waitFor();

    await confirmed(page, name, 'Rotate');
    const second = await stored(page);
    t.ok((await works(first)) && (await works(second)), 'both for a day');
    await keyRow(page, name).nth(1).waitFor();
    t.equal(await keyRow(page, name).getByRole('button', { name: 'Rotate' }).count(), 1, 'not of the one before');
    await confirmed(page, name, 'Revoke');
    await keyRow(page, name).getByText('revoked').waitFor();
    await page.getByRole('status', { name: 'Done' }).getByText('Revoke: done.').waitFor();
    t.equal(await page.evaluate('document.activeElement.tagName'), 'H1', 'the keyboard is not lost with the button');
    await looksRight(t, page, 'keys');
    await page.reload();
    await keyRow(page, name).first().waitFor();
    const told = await Promise.all(answers);
    for (const key of [first, second])
      t.equal(told.filter((text) => text.includes(key)).length, 1, 'in no answer but the one that made it');
    t.notMatch(await page.content(), /cs_live_\w{49}/);
    const kept = await page.evaluate('JSON.stringify([{...localStorage}, {...sessionStorage}, location.href])');
    t.notMatch(kept, /cs_live_/, 'the browser keeps it nowhere');
  }
  t.strictSame(service.complaints, []);
});

t.test('a key whose answer is lost may be there, which the page says and shows', async (t) => {
  const service = await consoleFixture(t);
  const page = await service.signedIn(`#/keys?workspace=${service.workspaceId}`, VIEWS[0], await operatorKey(service));
  await page.route('**/v1/operator/keys', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, body: (await response.text()).slice(0, 20) });
  });
  await page.getByRole('button', { name: 'Make a key' }).click();
  await page.getByLabel('Name', { exact: true }).fill('lost');
  await page.getByLabel('events:read').check();
  await page.getByRole('button', { name: 'Make the key' }).click();
  await page.getByText('No answer came, and it may have been done.').waitFor();
  await keyRow(page, 'lost').getByText('Active').waitFor();
  await looksRight(t, page, 'key-lost');
});

t.test('secrets stay until they are put away, wherever one goes, and leaving asks', async (t) => {
  const service = await consoleFixture(t);
  for (const view of viewsOf(t)) {
    const page = await service.signedIn(`#/keys?workspace=${service.workspaceId}`, view, await operatorKey(service));
    for (const name of ['one', 'two']) {
      await page.getByRole('button', { name: 'Make a key' }).click();
      await page.getByLabel('Name', { exact: true }).fill(name);
      await page.getByLabel('events:read').check();
      await page.getByRole('button', { name: 'Make the key' }).click();
      await page.getByRole('heading', { name: `The new key ${name}` }).waitFor();
    }
    await page.getByRole('link', { name: 'Connections', exact: true }).click();
    await page.getByRole('heading', { name: 'Connections' }).waitFor();
    await looksRight(t, page, 'keys-made');
    const asked = page.waitForEvent('dialog');
    await page.evaluate('void setTimeout(() => location.reload())');
    t.equal((await asked).type(), 'beforeunload');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('dialog', { name: 'Sign out' }).getByRole('button', { name: 'Go back' }).click();
    for (const name of ['one', 'two']) {
      const secret = page.getByRole('region', { name: `The new key ${name}` });
      t.match(await secret.locator('code').textContent(), /^cs_live_/);
      await secret.getByRole('button', { name: 'I have stored it' }).click();
      await secret.waitFor({ state: 'detached' });
    }
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  }
  t.strictSame(service.complaints, []);
});

t.test('who may change connections sees the keys of the workspace, and makes none', async (t) => {
  const service = await consoleFixture(t);
  const { db, workspaceId } = service;
  await createKey(db, { workspaceId, name: 'for ever', scopes: ['events:read'], expiresAt: null });
  const old = { workspaceId, name: 'of yesterday', scopes: ['events:read'] as const };
  await createKey(db, { ...old, expiresAt: new Date(Date.now() - DAY_ms) });
  for (const view of viewsOf(t)) {
    const page = await service.signedIn('#/keys', view);
    await keyRow(page, 'for ever').getByText('Active').waitFor();
    await keyRow(page, 'of yesterday').getByText('expired').waitFor();
    await eventually(
      'its use is stored, and shown to who comes again',
      async () => {
        await page.reload();
        const own = keyRow(page, '(your own)');
        await own.waitFor();
        return own.getByText('from 127.0.0.1').count();
      },
      (shown) => shown > 0,
    );
    for (const name of ['Make a key', 'Rotate', 'Revoke'])
      t.equal(await page.getByRole('button', { name }).count(), 0, name);
    await looksRight(t, page, 'keys-own');
  }
  const { key } = await keyWithout(service, 'connections:write');
  const page = await service.signedIn('#/keys', VIEWS[0], key);
  await page.getByText('This page needs a key with the scope connections:write.').waitFor();
  t.equal(await page.getByRole('link', { name: 'Keys' }).count(), 0);
  t.strictSame(service.complaints, []);
});
