import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright';
import t, { type Test } from 'tap';
import { request } from 'undici';
import { capabilities } from '../../../actors/capabilities/catalogue.js';
import { findBrowser } from '../../../browser-pool/chromium/find-browser.js';
import { buildDocument } from '../../../server/openapi/document.js';
import { routes } from '../../../server/table.js';
import { longTest } from '../../fixture/size.js';
import { startTestEdge } from '../edge-fixture.js';
import type { Document } from './openapi-schemas.js';

t.test('the page is made of files of the service, each with its type', async (t) => {
  const { url } = await startTestEdge(t);
  const get = async (path: string) => {
    const { statusCode, headers, body } = await request(url + path);
    return { status: statusCode, headers, text: await body.text() };
  };
  const page = await get('/docs');
  t.match(page, { status: 200, headers: { 'content-type': 'text/html; charset=utf-8' } });
  t.match(page.headers['content-security-policy'], /^default-src 'none'; script-src 'self';/);
  t.notMatch(page.text, /<script(?![^>]*src=)/, 'no script of its own');
  const files = [...page.text.matchAll(/(?:src|href)="(docs\/[^"]+)"/g)].map(([, file]) => file);
  t.same(files, ['docs/page.css', 'docs/operation.css', 'docs/start.js'], 'which loads the viewer');
  for (const file of [...files, 'docs/viewer.js']) {
    const type = file?.endsWith('.css') ? 'text/css; charset=utf-8' : 'text/javascript; charset=utf-8';
    t.match(await get(`/${file}`), {
      status: 200,
      headers: { 'content-type': type, 'x-content-type-options': 'nosniff', etag: String },
    });
  }
  for (const path of ['/docs/', '/docs/index.html', '/docs/..%2fpackage.json', '/docs/viewer.js.map']) {
    t.equal((await get(path)).status, 404, path);
  }
});

async function started(t: Test): Promise<Browser> {
  const executablePath = findBrowser();
  if (!executablePath) throw new Error('no browser is installed');
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  t.teardown(() => browser.close());
  return browser;
}

/** The page in a browser of its own window, and what must not have happened there. */
async function shown(t: Test, browser: Browser, url: string, options: BrowserContextOptions) {
  const context = await browser.newContext(options);
  t.teardown(() => context.close());
  const page = await context.newPage();
  const complaints: string[] = [];
  // A violation of the policy is an error in the console, too.
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('request', (one) => {
    const own = one.url().startsWith(`${url}/`) || /^(data|blob):/.test(one.url());
    if (!own) complaints.push(`it requests ${one.url()}`);
  });
  await page.goto(`${url}/docs`);
  await page.getByRole('heading', { level: 1 }).waitFor();
  return { page, complaints };
}

/** Opens the search, by the menu where that hides it, and goes to what it finds first. */
async function search(page: Page, words: string): Promise<void> {
  const menu = page.getByRole('button', { name: 'Open Menu' });
  if (await menu.isVisible()) await menu.click();
  await page
    .getByRole('button', { name: /Search/ })
    .first()
    .click();
  await page.getByRole('dialog').getByRole('combobox').fill(words);
  await page.getByRole('option').first().click();
}

/** Of the ground: 0 is black, 765 white. */
async function brightness(page: Page): Promise<number> {
  const color = await page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
  const [red = 0, green = 0, blue = 0] = color.match(/[0-9.]+/g)?.map(Number) ?? [];
  return red + green + blue;
}

longTest(
  t,
  'a browser shows the reference at desk and at phone width, light and dark, and nothing breaks the policy',
  async (t) => {
    const { url, key } = await startTestEdge(t);
    const browser = await started(t);
    const desk = [1280, 'light'] as const;
    const phone = [390, 'dark'] as const;
    for (const [width, colorScheme] of [desk, phone]) {
      await t.test(`${width} px, ${colorScheme}`, async (t) => {
        const { page, complaints } = await shown(t, browser, url, { viewport: { width, height: 844 }, colorScheme });
        const wide = () => page.evaluate<number>('document.documentElement.scrollWidth');
        t.equal(await wide(), width, 'nothing scrolls to the side');
        const bright = await brightness(page);
        t.ok(colorScheme === 'light' ? bright > 600 : bright < 150, `the ground is ${bright}`);

        await page.getByLabel('Workspace key', { exact: true }).fill(key);
        await search(page, 'every connection');
        const operation = page.locator('section[id$="GET/v1/connections"]');
        await operation.getByRole('button', { name: 'Test Request' }).waitFor();
        t.equal(await wide(), width);
        t.ok((await operation.boundingBox())!.height < 2500, 'it is not far from its head to its end');
        await page.reload();
        await operation.getByRole('button', { name: 'Test Request' }).waitFor();
        t.equal(await page.getByLabel('Workspace key', { exact: true }).inputValue(), key, 'a reload finds the key');
        t.notMatch(page.url(), key);
        t.notMatch(await page.evaluate<string>('JSON.stringify(localStorage)'), key, 'it is kept for this tab alone');
        const read = String(await operation.evaluate('(shown) => shown.innerText')); // Not what stands there for copying.
        t.notMatch(read, key, 'nor is it to be read');
        t.notMatch(await page.content(), 'Gateway-Access', 'a scheme that is not in force');

        await operation.getByRole('button', { name: 'Test Request' }).click();
        const answered = page.waitForResponse(`${url}/v1/connections`);
        await page.getByRole('dialog').getByRole('button', { name: /^Send/ }).first().click();
        const answer = await answered;
        t.match(
          { status: answer.status(), sent: await answer.request().allHeaders() },
          {
            status: 200,
            sent: { authorization: `Bearer ${key}` },
          },
        );
        await page.getByText('200 OK').waitFor();
        t.same(complaints, []);
      });
    }
  },
);

/** No operation is higher at a desk of 1280 × 900 px: the viewer by itself gives the largest 1,950. */
const SCREEN_px = 960;

longTest(t, 'it leads to every route, one screen each, and offers every capability as a body', async (t) => {
  const { url } = await startTestEdge(t);
  const { page, complaints } = await shown(t, await started(t), url, { viewport: { width: 1280, height: 900 } });
  const closed = page.getByRole('button', { name: /^Open Group/ });
  while ((await closed.count()) > 0) await closed.first().click();
  const { webhooks } = buildDocument(routes, false) as unknown as Document;
  const all = routes.length + Object.keys(webhooks).length;
  t.equal(await page.getByRole('link', { name: 'HTTP Method' }).count(), all);

  for (const [name, route] of [
    ['Create a connection', 'POST/v1/connections'],
    ['Push events', 'POST/v1/connections/{connection_id}/subscriptions'],
    ['Submit an operation', 'POST/v1/connections/{connection_id}/operations'],
  ] as const) {
    await page.getByRole('link', { name }).click();
    const operation = page.locator(`section[id$="${route}"]`);
    await operation.getByRole('button', { name: 'Test Request' }).waitFor();
    const { height = SCREEN_px } = (await operation.boundingBox()) ?? {};
    t.ok(height < SCREEN_px, `${route} takes ${height} px`);
  }
  const operation = page.locator('section[id$="POST/v1/connections/{connection_id}/operations"]');
  await operation.getByRole('button', { name: 'social.login' }).last().click();
  const offered = page.getByRole('option');
  await offered.first().waitFor();
  t.same(
    await offered.allTextContents(),
    capabilities.map(({ name }) => name),
  );
  t.same(complaints, []);
});
