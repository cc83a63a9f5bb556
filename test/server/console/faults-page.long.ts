import { setTimeout as delay } from 'node:timers/promises';
import type { Page, Route } from 'playwright';
import t from 'tap';
import { connect } from '../../fixture/webhooks.js';
import { consoleFixture, looksRight } from './console-fixture.js';

/** Longer than changes are told of apart. */
const LOAD_ms = 1500;

const cursorsOf = (page: Page) => new URLSearchParams(page.url().replace(/^[^?]*/, '')).get('at')?.split('.') ?? [];

t.test('rows show while loading takes longer than changes are apart, and never those of another place', async (t) => {
  const { client, signedIn, url } = await consoleFixture(t, { load: true });
  const connection = await connect(client);
  const page = await signedIn('#/connections');
  const loads = { now: 0, most: 0 };
  await page.route('**/v1/operations?*', async (route) => {
    loads.most = Math.max(loads.most, ++loads.now);
    await delay(LOAD_ms);
    loads.now--;
    await route.continue().catch(() => {}); // nobody waits for it any more
  });
  await page.goto(`${url}/console#/operations`);
  const first = page.getByRole('row').nth(1);
  for (let n = 0; n < 2; n++) {
    const id = String(await first.locator('.id code').getAttribute('title'));
    await page.getByTitle(id).waitFor({ state: 'detached' }); // by then there are many that are newer
  }
  t.equal(loads.most, 1, 'one load at a time');

  const failed = '**/v1/operations?*status=failed*';
  await page.route(failed, (route) => route.abort());
  await page.getByLabel('Status').selectOption('Failed');
  await page.getByText('The service does not answer.').waitFor();
  t.equal(await page.getByRole('table').count(), 0, 'no row of another status stands under the filter');
  await page.unroute(failed);
  await page.getByLabel('Status').selectOption('');
  await first.waitFor();

  const next = page.getByRole('link', { name: 'Next page' });
  await next.click();
  await page.getByText('Page 2').waitFor();
  await next.click({ force: true });
  await first.waitFor();
  t.equal(cursorsOf(page).length, 1, 'a second click leads no further');
  await page.goto(`${page.url()}&connection_id=${connection}`);
  await page.getByRole('link', { name: 'Show all' }).click();
  await page.getByText('Page 1').waitFor();
  t.strictSame(cursorsOf(page), []);
});

t.test('the page says whether the service is silent, gone or failing, and goes on when it answers', async (t) => {
  const { client, signedIn } = await consoleFixture(t);
  await client.connect({ provider: 'simulated', external_actor: { kind: 'person', id: 'ada' } });
  const page = await signedIn('#/connections');
  const held: Route[] = [];
  let answers: 'real' | 'none' | 'failures' = 'real';
  await page.route('**/v1/**', (route) => {
    if (answers === 'none') held.push(route);
    else if (answers === 'real') void route.continue();
    else void route.fulfill({ status: 503, json: { code: 'unavailable', message: 'the service is unavailable' } });
  });
  await page.route('**/console/live', (route) => route.abort());
  await page.clock.install();
  await page.reload();
  const row = page.getByRole('link', { name: 'ada' });
  await row.waitFor();
  await page.getByText('Up to date', { exact: true }).waitFor();

  answers = 'none';
  await page.clock.fastForward(16_000);
  await page.getByText('Not up to date').waitFor();
  await page.clock.fastForward(31_000);
  await page.getByText('No connection to the service').waitFor();
  await page.getByText('The service does not answer.').waitFor();
  t.equal(await row.count(), 1, 'what was known stays');

  answers = 'failures';
  for (const route of held.splice(0)) await route.abort().catch(() => {}); // some were given up
  await page.clock.fastForward(6_000);
  await page.getByText('The service cannot answer').waitFor();
  await page.getByText('The service is not available just now.').waitFor();
  await looksRight(t, page, 'failing');
  t.equal(await row.count(), 1);

  answers = 'real';
  await page.clock.fastForward(6_000);
  await page.getByText('Up to date', { exact: true }).waitFor();
  t.equal(await page.getByRole('alert').count(), 0);

  await page.route('**/v1/limits', (route) => route.abort());
  await page.getByRole('link', { name: 'Overview' }).click();
  await page.getByRole('region', { name: 'Limits' }).getByRole('alert').waitFor();
});
