import { type BrowserContextOptions, chromium, type Route } from 'playwright';
import t, { type Test } from 'tap';
import { findBrowser } from '../../../browser-pool/chromium/find-browser.js';
import { CONTENT_SECURITY_POLICY } from '../../../server/console/pages.js';
import type { Client } from '../../fixture/client.js';
import { serviceFixture, startService } from '../../fixture/service.js';
import { looksRight, VIEWS } from './console-fixture.js';

async function started(t: Test) {
  const executablePath = findBrowser();
  if (!executablePath) throw new Error('no browser is installed');
  const service = await startService(t, await serviceFixture(t, { PUBLIC_URL: 'https://connections.example.com' }));
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  t.teardown(() => browser.close());
  const linkTo = async (connection: string) => {
    const { body } = await service.client.send('POST', `/v1/connections/${connection}/reconnect-link`);
    return String(body.url).replace('https://connections.example.com', service.url);
  };
  const complaints: string[] = [];
  const open = async (url: string, options: BrowserContextOptions) => {
    const context = await browser.newContext(options);
    t.teardown(() => context.close());
    const page = await context.newPage();
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => {
      // A refusal is an answer that the browser shows as an error.
      if (message.type() === 'error' && !/status of 4\d\d/.test(message.text())) complaints.push(message.text());
    });
    page.on('request', (one) => {
      if (!one.url().startsWith(`${service.url}/`) && !one.url().startsWith('data:')) complaints.push(one.url());
    });
    await page.goto(url);
    return page;
  };
  return { ...service, linkTo, open, complaints };
}

const connect = (client: Client, username: string) =>
  client.connect({ provider: 'social', username, password: 'former', region: 'us' });

t.test('the owner of an account signs in by the page, by keyboard alone', async (t) => {
  const { client, linkTo, open, complaints } = await started(t);
  for (const [i, view] of VIEWS.entries()) {
    const connection = await connect(client, `grace${i}+sms@example.com`);
    const link = await linkTo(connection);
    const page = await open(link, view);
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

    const late = await open(link, view);
    await late.getByText('This link was used already. Ask for a new one.').waitFor();
  }
  t.strictSame(complaints, [], 'no error, no violation of the policy, nothing from elsewhere');
});

t.test('a page whose password or code lost its answer goes on with the login that was taken', async (t) => {
  const { client, linkTo, open } = await started(t);
  const [view = {}] = VIEWS;
  const page = await open(await linkTo(await connect(client, 'ada+sms@example.com')), view);
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

t.test('a link of no use says so, and a service that does not answer is waited for', async (t) => {
  const { client, url, linkTo, open, kill } = await started(t);
  const [view = {}] = VIEWS;
  const useless = await open(`${url}/reconnect#${'x'.repeat(64)}`, view);
  await useless.getByText('This link has expired, or a newer one took its place.').waitFor();
  await looksRight(t, useless, 'reconnect-useless');
  await (await open(`${url}/reconnect`, view)).getByText('This is not a whole link.').waitFor();

  const page = await open(await linkTo(await connect(client, '<img src=x onerror=alert(1)>@example.com')), view);
  await page.getByRole('heading', { name: 'Sign in again' }).waitFor();
  t.match(await page.getByRole('main').textContent(), /your account <•••@example.com again/, 'text is text');
  await page.getByLabel('Password').fill('sandbox');
  await kill();
  await page.keyboard.press('Enter');
  await page.getByText('The service does not answer.').waitFor();
  t.equal(await page.getByLabel('Password').inputValue(), 'sandbox', 'nothing has to be entered again');
});

t.test('the page may load nothing of others, and is kept by nobody', async (t) => {
  const { url } = await started(t);
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
