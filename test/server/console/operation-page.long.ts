import { readFile } from 'node:fs/promises';
import type { Page, Route } from 'playwright';
import t from 'tap';
import { LIMITS } from '../../../server/http/limits.js';
import { insertOperations } from '../rows.js';
import { consoleFixture, keyWithout, looksRight, viewsOf } from './console-fixture.js';

const EVIL = '<img src=x onerror=alert(1)>';

const person = (id: string) => ({ provider: 'simulated', external_actor: { kind: 'person', id } });
const rows = (page: Page, caption: string) =>
  page.getByRole('table', { name: caption }).locator('tbody tr td:first-child').allTextContents();

t.test('operations are listed by status, and one shows how it went, what went in and what came out', async (t) => {
  const { client, db, signedIn, complaints } = await consoleFixture(t);
  const ada = await client.connect(person('ada'));
  const done = await client.run(ada, 'social.people.search', { keywords: EVIL });
  await db.query('testResult', 'update operation set result = $2, result_sealed = null where id = $1', [
    done.id,
    JSON.stringify({ state_revision: 0, name: EVIL }),
  ]);
  await client.run(ada, 'social.profile.get', { profile_id: 'sim-fail-proxy_error' });
  const upstream = await client.run(ada, 'social.profile.get', { profile_id: 'sim-upstream-502' });
  const details = JSON.stringify({ retryable: true, upstream_status: 502, what: EVIL });
  await db.query('testError', 'update operation set error_details = $2 where id = $1', [upstream.id, details]);
  for (const view of viewsOf(t)) {
    const page = await signedIn('#/operations', view);
    await page.getByText('The regional proxy could not be used.').waitFor();
    await looksRight(t, page, 'operations');
    await page.getByLabel('Status').selectOption('Succeeded');
    await page.getByText('The regional proxy could not be used.').waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'social.people.search' }).waitFor();
    t.equal(await page.getByRole('table').locator('tbody tr').count(), 1);
    await page.getByRole('link', { name: 'social.people.search' }).focus();
    await page.keyboard.press('Enter');

    await page.getByRole('heading', { name: 'social.people.search' }).waitFor();
    t.match(await page.getByRole('region', { name: 'Input' }).textContent(), EVIL);
    t.match(await page.getByRole('region', { name: 'Result' }).textContent(), EVIL);
    t.strictSame(await rows(page, 'Changes of status'), ['Queued', 'Running', 'Succeeded']);
    t.strictSame(await rows(page, 'Attempts'), ['1']);
    await page.getByRole('img', { name: /^Queued .*Running .*Succeeded/ }).waitFor();
    await page.getByRole('link', { name: 'ada' }).waitFor();
    t.match(page.url(), done.id);
    await looksRight(t, page, 'operation-succeeded');

    await page.goto(page.url().replace(done.id, upstream.id));
    const error = page.getByRole('region', { name: 'Error' });
    t.match(
      await error.textContent(),
      /The provider failed or could not be reached. Submit it again in a while.*upstream_error/,
    );
    t.match(await error.textContent(), EVIL);
    await looksRight(t, page, 'operation-failed');
  }
  t.strictSame(complaints, [], 'no script runs');
});

t.test('what is hidden of an input has its name alone, and a write of unknown outcome is looked at', async (t) => {
  const { client, signedIn, complaints } = await consoleFixture(t);
  for (const [i, view] of viewsOf(t).entries()) {
    const ada = await client.connect(person(`ada-${i} sim-unknown-written`));
    const { id, status } = await client.run(ada, 'social.message.send', {
      recipient_actor_id: 'ACoAAgrace',
      body: 'a secret',
    });
    t.equal(status, 'outcome_unknown');
    const page = await signedIn(`#/operations/${id}`, view);
    const evidence = page.getByRole('region', { name: 'Evidence' });
    await evidence.getByText('The provider has not been checked yet.').waitFor();
    t.notMatch(await page.getByRole('main').textContent(), 'a secret');
    t.match(await page.getByRole('region', { name: 'Input' }).textContent(), 'ACoAAgrace');
    await page.getByText('Submitted, and never shown: body').waitFor();
    await page.getByText(/^after \d/).waitFor();
    await looksRight(t, page, 'operation-unknown');
    await page.getByRole('button', { name: 'Check the provider' }).focus();
    await page.keyboard.press('Enter');
    await evidence.getByText('One match was found at the provider.').waitFor();
    await looksRight(t, page, 'operation-looked');
  }
  t.strictSame(complaints, []);
});

/** The operation as it is while it tries a code. */
async function tried(route: Route): Promise<void> {
  const response = await route.fetch();
  await route.fulfill({ response, json: { ...(await response.json()), status: 'running', challenge: null } });
}

t.test('an operation is canceled, and a challenge is answered, by who may', async (t) => {
  const service = await consoleFixture(t);
  const { client, signedIn, complaints } = service;
  const { key } = await keyWithout(service, 'operations:write');
  const bob = await client.connect(person('bob'));
  for (const [i, view] of viewsOf(t).entries()) {
    const ada = await client.connect(person(`ada-${i} sim-challenge-sms`));
    const { id } = await client.run(ada, 'social.login');
    const watched = await signedIn(`#/operations/${id}`, view, key);
    await watched.getByText('The provider has sent a code to the phone').waitFor();
    t.equal(
      await watched
        .getByRole('main')
        .getByRole('button', { name: /Cancel|code/ })
        .count(),
      0,
    );

    const page = await signedIn(`#/operations/${id}`, view);
    await page.getByLabel('Code').fill('999999');
    await page.keyboard.press('Enter');
    await page.getByText('That code was wrong.').waitFor();
    await page.getByLabel('Code').waitFor();

    // The page looks just while the next code is tried: there is no challenge then.
    const trying = async (post: Route) => {
      await page.route(`**/v1/operations/${id}`, tried, { times: 1 });
      await post.continue();
    };
    await page.route(`**/v1/operations/${id}/challenge`, trying, { times: 1 });
    await page.getByLabel('Code').fill('999998');
    await page.keyboard.press('Enter');
    await page.getByLabel('Code').waitFor({ state: 'detached' });
    await client.run(bob, 'social.health.check'); // what else changes has it look again
    await page.getByText('That code was wrong.').waitFor();
    await page.getByLabel('Code').waitFor();
    const queued = String((await client.submit(ada, 'social.profile.get', { profile_id: 'x' })).body.id);
    await page.getByRole('button', { name: 'Cancel the operation' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel the operation' }).click();
    await page.locator('.title').getByText('Canceled').waitFor();
    t.match((await client.settled(id)).status, 'canceled');
    await watched.locator('.title').getByText('Canceled').waitFor();
    await looksRight(t, page, 'operation-canceled');
    await client.settled(queued);
  }
  t.strictSame(complaints, []);
});

t.test('what has ended is not loaded again, and a file in its result is downloaded and not laid out', async (t) => {
  const { client, db, signedIn, complaints } = await consoleFixture(t);
  const ada = await client.connect(person('ada'));
  const loads: string[] = [];
  const id = String((await client.submit(ada, 'social.profile.get', { profile_id: 'sim-delay-2000' })).body.id);
  const page = await signedIn(`#/operations/${id}`);
  page.on('request', (request) => request.url().endsWith(`/v1/operations/${id}`) && loads.push(request.url()));
  await page.locator('.title').getByText('Succeeded').waitFor();
  const list = await signedIn('#/operations');
  await list.getByRole('cell', { name: 'ada', exact: true }).first().waitFor();
  const ended = loads.length;
  await client.run(ada, 'social.health.check');
  await list.getByRole('link', { name: 'social.health.check' }).waitFor();
  await client.run(ada, 'social.identity.get');
  await list.getByRole('link', { name: 'social.identity.get' }).waitFor();
  t.equal(loads.length, ended, 'although the page was told of others twice');

  const bytes = Buffer.alloc(300 * 1024, 'x');
  await db.query('testFile', 'update operation set result = $2, result_sealed = null where id = $1', [
    id,
    JSON.stringify({ state_revision: 0, content_type: 'text/plain', data_base64: bytes.toString('base64') }),
  ]);
  await page.reload();
  await page.getByText(/eHh4… \(400 KiB in all\)/).waitFor();
  t.ok(String(await page.locator('pre').first().textContent()).length < 1000);
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download the file (300 KiB)' }).click(),
  ]);
  t.equal(download.suggestedFilename(), `${id}.bin`);
  t.ok(bytes.equals(await readFile(await download.path())));
  await looksRight(t, page, 'operation-file');
  t.strictSame(complaints, []);
});

t.test('a look that does not come is told, and shows when it comes', async (t) => {
  const service = await consoleFixture(t);
  const { client, db, signedIn, complaints } = service;
  for (const [i, view] of viewsOf(t).entries()) {
    const ada = await client.connect(person(`ada-${i} sim-unknown-written`));
    const write = { recipient_actor_id: 'ACoAAgrace', body: 'a secret' };
    const { id } = await client.run(ada, 'social.message.send', write);
    const health = (now: string) =>
      db.query('testHealth', 'update connection set health = $2 where id = $1', [ada, now]);
    const page = await signedIn(`#/operations/${id}`, view);
    const evidence = page.getByRole('region', { name: 'Evidence' });
    await health('needs_login');
    await evidence.getByRole('button', { name: 'Check the provider' }).click();
    await evidence.getByText('Nothing was checked: the connection is not ready.').waitFor();
    t.equal(await evidence.getByText('The provider has not been checked yet.').count(), 0);
    await evidence.getByRole('link', { name: `ada-${i}` }).waitFor();
    await looksRight(t, page, 'operation-look-refused');
    await health('ready');
    await db.transaction(async (tx) => {
      // What it found cannot be stored meanwhile.
      await tx.query('testHold', 'select 1 from operation where id = $1 for no key update', [id]);
      await evidence.getByRole('button', { name: 'Check the provider' }).click();
      await evidence.getByText('The check has not ended yet.').waitFor();
      await looksRight(t, page, 'operation-looks');
    });
    await evidence.getByText('One match was found at the provider.').waitFor();
    t.equal(await evidence.getByText('The check has not ended yet.').count(), 0);
  }
  t.strictSame(complaints, []);
});

t.test('a rare status is found behind pages that hold none of it', async (t) => {
  const { client, db, signedIn, complaints } = await consoleFixture(t);
  const ada = await client.connect(person('ada'));
  const { id } = await client.run(ada, 'social.profile.get', { profile_id: 'sim-fail-proxy_error' });
  await insertOperations(db, ada, 2 * LIMITS.looked_at_operations);
  const page = await signedIn('#/operations?status=failed');
  await page.getByRole('link', { name: 'social.profile.get' }).waitFor();
  t.match(await page.getByRole('link', { name: 'social.profile.get' }).getAttribute('href'), id);
  t.strictSame(complaints, []);
});
