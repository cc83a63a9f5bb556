import type { Route } from 'playwright';
import t, { type Test } from 'tap';
import { CONTENT_SECURITY_POLICY } from '../../../server/console/pages.js';
import type { Client } from '../../fixture/client.js';
import { ownService } from '../../fixture/shared-service.js';
import { consoleIn, looksRight, VIEWS, viewsOf } from './console-fixture.js';

const PUBLIC_URL = 'https://connections.example.com';

/** The last test that uses it ends it. */
const service = ownService(t, { PUBLIC_URL });

async function pages(t: Test) {
  const tested = await consoleIn(t, service);
  const linkTo = async (connection: string) => {
    const { body } = await tested.client.send('POST', `/v1/connections/${connection}/reconnect-link`);
    return String(body.url).replace(PUBLIC_URL, tested.url);
  };
  return { ...tested, linkTo };
}

const connect = (client: Client, username: string) =>
  client.connect({ provider: 'social', username, password: 'former', region: 'us' });

t.test('the owner of an account signs in by the page, by keyboard alone', async (t) => {
  const { client, linkTo, openAt, complaints } = await pages(t);
  for (const [i, view] of viewsOf(t).entries()) {
    const connection = await connect(client, `grace${i}+sms@example.com`);
    const link = await linkTo(connection);
    const page = await openAt(link, view);
    await page.getByRole('heading', { name: 'Sign in again' }).waitFor();
    t.notOk(page.url().includes('#'), 'the link is taken out of the address');
    t.match(await page.getByRole('main').textContent(), /test asks you to sign in to your account g•••@example.com/);
    await looksRight(t, page, 'reconnect-password');

    await page.keyboard.press('Tab');
    await page.keyboard.type('wrong');
    await page.keyboard.press('Enter');
    await page.getByText('The password was not accepted.').waitFor();
    t.match(await page.getByRole('main').textContent(), /4 tries are left/);
    await looksRight(t, page, 'reconnect-refused');

    await page.getByLabel('Password').fill('sandbox');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Enter the code' }).waitFor();
    await looksRight(t, page, 'reconnect-code');
    await page.reload();
    await page.getByRole('heading', { name: 'Enter the code' }).waitFor();
    await page.getByLabel('Code').fill('999999');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'One moment' }).waitFor();
    await page.getByRole('heading', { name: 'Enter the code' }).waitFor();
    await page.getByLabel('Code').fill(' 000000 ');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'You are signed in' }).waitFor();
    await looksRight(t, page, 'reconnect-done');
    t.match(await client.send('GET', `/v1/connections/${connection}`), { body: { health: 'ready' } });

    const late = await openAt(link, view);
    await late.getByText('This link was used already. Ask for a new one.').waitFor();
  }
  t.strictSame(complaints, [], 'no error, no violation of the policy, nothing from elsewhere');
});

t.test('a page whose password or code lost its answer goes on with the login that was taken', async (t) => {
  const { client, linkTo, openAt } = await pages(t);
  const [view = {}] = VIEWS;
  const page = await openAt(await linkTo(await connect(client, 'ada+sms@example.com')), view);
  const losing = async (step: string) => {
    const lose = async (route: Route) => {
      t.equal((await route.fetch()).status(), 202);
      await route.abort();
    };
    await page.route(`**/reconnect/${step}`, lose, { times: 1 });
  };
  await losing('login');
  await page.getByLabel('Password').fill('sandbox');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Enter the code' }).waitFor();
  await losing('code');
  await page.getByLabel('Code').fill('000000');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'You are signed in' }).waitFor();
});

t.test('the page may load nothing of others, and is kept by nobody', async (t) => {
  const { url } = await pages(t);
  const page = await fetch(`${url}/reconnect`);
  t.match(Object.fromEntries(page.headers), {
    'content-security-policy': CONTENT_SECURITY_POLICY,
    'referrer-policy': 'no-referrer',
    'x-frame-options': 'DENY',
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-cache',
  });
  const text = await page.text();
  const files = [...text.matchAll(/(?:src|href)="(pages\/[^"]+)"/g)].map(([, file]) => file);
  t.equal(files.length, 2);
  t.notMatch(text, /<script(?![^>]*src=)|style=/, 'no script and no style of its own');
  for (const file of files) {
    const { status, headers } = await fetch(`${url}/${file}`);
    t.match([status, headers.get('cache-control')], [200, /immutable/]);
  }
  t.equal((await fetch(`${url}/pages/..%2f..%2fpackage.json`)).status, 404);
});

t.test('a link of no use says so, and a service that does not answer is waited for', async (t) => {
  const { client, url, linkTo, openAt, kill } = await pages(t);
  const [view = {}] = VIEWS;
  const useless = await openAt(`${url}/reconnect#${'x'.repeat(64)}`, view);
  await useless.getByText('This link has expired, or a newer one took its place.').waitFor();
  await looksRight(t, useless, 'reconnect-useless');
  await (await openAt(`${url}/reconnect`, view)).getByText('This is not a whole link.').waitFor();

  const page = await openAt(await linkTo(await connect(client, '<img src=x onerror=alert(1)>@example.com')), view);
  await page.getByRole('heading', { name: 'Sign in again' }).waitFor();
  t.match(await page.getByRole('main').textContent(), /your account <•••@example.com again/, 'text is text');
  await page.getByLabel('Password').fill('sandbox');
  await kill();
  await page.keyboard.press('Enter');
  await page.getByText('The service does not answer.').waitFor();
  t.equal(await page.getByLabel('Password').inputValue(), 'sandbox', 'nothing has to be entered again');
});
