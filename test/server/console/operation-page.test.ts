import type { Page } from 'playwright';
import t from 'tap';
import { consoleFixture, keyWithout, looksRight, VIEWS } from './console-fixture.js';

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
  for (const view of VIEWS) {
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
  for (const [i, view] of VIEWS.entries()) {
    const ada = await client.connect(person(`ada-${i} sim-unknown-written`));
    const { id, status } = await client.run(ada, 'social.message.send', {
      recipient_actor_id: 'ACoAAgrace',
      body: 'a secret',
    });
    t.equal(status, 'outcome_unknown');
    const page = await signedIn(`#/operations/${id}`, view);
    const evidence = page.getByRole('region', { name: 'Evidence' });
    await evidence.getByText('Nobody has looked yet.').waitFor();
    t.notMatch(await page.getByRole('main').textContent(), 'a secret');
    t.match(await page.getByRole('region', { name: 'Input' }).textContent(), 'ACoAAgrace');
    await page.getByText('Submitted, and never shown: body').waitFor();
    await page.getByText(/^after \d/).waitFor();
    await looksRight(t, page, 'operation-unknown');
    await page.getByRole('button', { name: 'Look' }).focus();
    await page.keyboard.press('Enter');
    await evidence.getByText('One thing stands there that may be it.').waitFor();
    await looksRight(t, page, 'operation-looked');
  }
  t.strictSame(complaints, []);
});

t.test('an operation is canceled, and a challenge is answered, by who may', async (t) => {
  const service = await consoleFixture(t);
  const { client, signedIn, complaints } = service;
  const { key } = await keyWithout(service, 'operations:write');
  for (const [i, view] of VIEWS.entries()) {
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
