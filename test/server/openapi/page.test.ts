import { chromium } from 'playwright';
import t from 'tap';
import { request } from 'undici';
import { capabilities } from '../../../actors/capabilities/catalogue.js';
import { findBrowser } from '../../../browser-pool/chromium/find-browser.js';
import { routes } from '../../../server/table.js';
import { startTestEdge } from '../edge-fixture.js';

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
  t.equal(files.length, 3);
  for (const file of files) {
    const type = file?.endsWith('.css') ? 'text/css; charset=utf-8' : 'text/javascript; charset=utf-8';
    t.match(await get(`/${file}`), {
      status: 200,
      headers: { 'content-type': type, 'x-content-type-options': 'nosniff', etag: String },
    });
  }
  for (const path of ['/docs/', '/docs/index.html', '/docs/..%2fpackage.json', '/docs/swagger-ui.js.map']) {
    t.equal((await get(path)).status, 404, path);
  }
});

t.test('a browser shows every route, and nothing breaks the policy', async (t) => {
  const { url } = await startTestEdge(t);
  const executablePath = findBrowser();
  if (!executablePath) throw new Error('no browser is installed');
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  t.teardown(() => browser.close());
  const page = await browser.newPage();
  const complaints: string[] = [];
  const asked: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('request', (one) => asked.push(one.url()));
  await page.goto(`${url}/docs`);
  await page.locator('.opblock').first().waitFor();
  t.equal(await page.locator('.opblock').count(), routes.length);
  await page.locator('#operations-Operations-postConnectionsByConnectionIdOperations').click();
  const open = page.locator('.opblock.is-open');
  t.equal(await open.locator('.examples-select option').first().textContent(), 'social.login');
  t.equal(await open.locator('.examples-select').first().locator('option').count(), capabilities.length);
  await open.getByRole('tab', { name: 'Schema' }).first().click();
  await open.locator('.model, .json-schema-2020-12').first().waitFor();
  await open.locator('.try-out button').click();
  await open.locator('button.execute').waitFor();
  t.same(complaints, []);
  t.same(
    asked.filter((address) => !address.startsWith(`${url}/`) && !address.startsWith('data:')),
    [],
    'it requests nothing else',
  );
});
