import type { Page } from 'playwright';
import t from 'tap';
import type { Database } from '../../../storage/postgres/database.js';
import { ownService } from '../../fixture/shared-service.js';
import { consoleFixture, consoleIn, keyWith, looksRight, VIEWS, viewsOf } from './console-fixture.js';

/** A time without a stream, as a listener leaves it. */
const insertGap = (db: Database, connectionId: string, began_min_ago: number, lasted_min: number) =>
  db.query(
    'testGap',
    `insert into listener_gap (id, connection_id, reason, started_at, closed_at)
     values (gen_random_uuid(), $1, 'stream_closed', now() - $2 * interval '1 minute', now() - $3 * interval '1 minute')`,
    [connectionId, began_min_ago, began_min_ago - lasted_min],
  );

const PUBLIC_URL = 'https://connections.example.com';
const EVIL = '<img src=x onerror=alert(1)>';

const real = (username: string) => ({ provider: 'social', username, password: 'sandbox', region: 'us' });
const person = (id: string) => ({ provider: 'simulated', external_actor: { kind: 'person', id } });
/** What a real account is called: a hint of its username, and the end of its id, by which two with the same hint differ. */
const nameOf = (id: string) => new RegExp(`^.?•••(?:@\\S+)? \\(${id.slice(-8)}\\)$`);
/** The names in the first column. */
const listed = (page: Page) => page.getByRole('table').locator('tbody td:first-child').allTextContents();

t.test('connections are found by name, health and kind, a page at a time', async (t) => {
  const { client, signedIn, complaints } = await consoleFixture(t);
  for (let n = 10; n < 37; n++) await client.connect(person(`ada-${n}`));
  await client.connect(person(EVIL));
  const grace = await client.connect(real('grace@example.com'));
  const account = { name: nameOf(grace) };
  for (const view of viewsOf(t)) {
    const page = await signedIn('#/connections', view);
    await page.getByRole('link', { name: 'ada-10' }).waitFor();
    t.equal((await listed(page)).length, 25);
    await looksRight(t, page, 'connections');
    await page.getByRole('link', { name: 'Next page' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: EVIL }).waitFor();
    t.match(await listed(page), ['ada-35', 'ada-36', EVIL, account.name], 'text is text');
    await looksRight(t, page, 'connections-last');
    await page.reload();
    await page.getByRole('link', { name: 'Previous page' }).click();
    await page.getByRole('link', { name: 'ada-10' }).waitFor();

    await page.getByLabel('Username or name').fill('ADA-3');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'ada-29' }).waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'ada-36' }).waitFor();
    t.equal((await listed(page)).length, 7);
    await page.getByLabel('Username or name').fill('GRACE@example.com');
    await page.keyboard.press('Enter');
    await page.getByRole('link', account).waitFor();
    t.equal((await listed(page)).length, 1, 'a whole username finds its connection');
    await page.getByLabel('Username or name').fill('');
    await page.keyboard.press('Enter');
    await page.getByLabel('Health').selectOption('Needs login');
    await page.getByRole('link', account).waitFor();
    t.equal((await listed(page)).length, 1);
    await page.getByLabel('Kind').selectOption('Simulated');
    await page.getByText('There is no such connection.').waitFor();
    await page.goBack();
    await page.getByRole('link', account).waitFor();
    t.equal(await page.getByLabel('Kind').inputValue(), '', 'a filter is a place that one comes back to');
  }
  t.strictSame(complaints, []);
});

t.test('a connection is logged in with a code, given a link, and disconnected', async (t) => {
  const { client, db, signedIn, complaints } = await consoleIn(t, ownService(t, { PUBLIC_URL }));
  for (const [i, view] of viewsOf(t).entries()) {
    const username = `grace${i}+sms@example.com`;
    const connection = await client.connect(real(username));
    await insertGap(db, connection, 5, 2);
    await insertGap(db, connection, 300, 30);
    const page = await signedIn(`#/connections/${connection}`, view);
    await page.getByRole('heading', { name: nameOf(connection) }).waitFor();
    await page.getByText('It was created.').waitFor();
    await page.getByText('Not signed in yet').waitFor();
    await page.getByRole('img', { name: /^2 gaps since .*, partly not known$/ }).waitFor();
    await looksRight(t, page, 'connection');

    await page.getByRole('button', { name: 'Log in' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'social.login' }).waitFor();
    await page.getByText('The provider has sent a code to the phone').waitFor();
    await looksRight(t, page, 'operation-waits');
    await page.getByRole('link', { name: nameOf(connection) }).click();
    await page.getByRole('heading', { name: nameOf(connection) }).waitFor();
    await page.getByLabel('Code').fill('000000');
    await page.keyboard.press('Enter');
    await page.locator('.title').getByText('Ready').waitFor();
    await page.getByRole('heading', { name: nameOf(connection) }).waitFor();
    await page.getByText('The login succeeded.').waitFor();
    await looksRight(t, page, 'connection-ready');

    await page.getByRole('button', { name: 'Make a reconnect link' }).click();
    const link = page.getByRole('status', { name: 'Reconnect link' });
    t.match(await link.textContent(), `${PUBLIC_URL}/reconnect#`);
    await link.getByRole('button', { name: 'Copy link' }).click();
    await link.getByText('Copied').waitFor();
    t.match(await page.evaluate('navigator.clipboard.readText()'), `${PUBLIC_URL}/reconnect#`);
    await looksRight(t, page, 'connection-link');

    await page.getByRole('button', { name: 'Disconnect' }).click();
    const question = page.getByRole('dialog', { name: 'Disconnect' });
    await looksRight(t, page, 'connection-asks');
    await page.keyboard.press('Escape');
    await question.waitFor({ state: 'detached' });
    t.match(await client.send('GET', `/v1/connections/${connection}`), { body: { health: 'ready' } });
    await page.getByRole('button', { name: 'Disconnect' }).click();
    await question.getByRole('button', { name: 'Disconnect' }).click();
    await page.getByText('It was disconnected.').waitFor();
    await page.getByRole('status', { name: 'Done' }).getByText('Disconnect: done.').waitFor();
    const focused = await page.evaluate('document.activeElement.textContent');
    t.equal(focused, 'Disconnect', 'the keyboard is where it was');
    t.match(await client.send('GET', `/v1/connections/${connection}`), { body: { health: 'needs_login' } });
  }
  t.strictSame(complaints, []);
});

t.test('what cannot be done is said in words, and an action without its scope is not there', async (t) => {
  const service = await consoleFixture(t);
  const connection = await service.client.connect(real('ada@example.com'));
  const page = await service.signedIn(`#/connections/${connection}`);
  await page.getByRole('button', { name: 'Make a reconnect link' }).click();
  await page.getByText('The service does not know its own public address.').waitFor();

  const { key } = await keyWith(service, 'connections:read');
  const narrow = await service.signedIn(`#/connections/${connection}`, VIEWS[1], key);
  await narrow.getByRole('heading', { name: nameOf(connection) }).waitFor();
  t.equal(await narrow.getByRole('main').getByRole('button').count(), 1, 'only the id is copied');
  t.equal(await narrow.getByRole('heading', { level: 2 }).allTextContents().then(String), 'Recruiter');
  t.equal(await narrow.getByRole('link', { name: 'Operations' }).count(), 0);
  await narrow.goto(`${service.url}/console#/operations`);
  await narrow.getByText('This page needs a key with the scope operations:read.').waitFor();
  await narrow.goto(`${service.url}/console#/connections/${'0'.repeat(8)}-0000-0000-0000-${'0'.repeat(12)}`);
  await narrow.getByText('There is nothing of this id here.').waitFor();
  await narrow.getByRole('heading', { name: 'Connection', exact: true }).waitFor();
  t.match(await narrow.title(), /^Connection/, 'the tab does not keep the name of the page before');
  t.strictSame(service.complaints, []);
});

t.test('a login by who may not look at operations is submitted once, and the page says so', async (t) => {
  const service = await consoleFixture(t);
  const connection = await service.client.connect(real('ada+sms@example.com'));
  const { key } = await keyWith(service, 'connections:read', 'operations:write');
  const page = await service.signedIn(`#/connections/${connection}`, VIEWS[0], key);
  const login = page.getByRole('button', { name: 'Log in' });
  await login.click();
  await page.getByText('A login was submitted as operation').waitFor();
  await looksRight(t, page, 'connection-submitted');
  t.equal(await login.getAttribute('aria-disabled'), 'true');
  await login.click({ force: true });
  const { body } = await service.client.send('GET', `/v1/operations?connection_id=${connection}`);
  t.equal((body.operations as unknown[]).length, 1);
  t.strictSame(service.complaints, []);
});

t.test('the line of gaps begins with the connection, and is not whole where nobody knows', async (t) => {
  const { client, db, signedIn, complaints } = await consoleFixture(t);
  const connection = await client.connect(real('ada@example.com'));
  const shares = async (page: Page) =>
    (await page.locator('.line rect').all()).reduce<Promise<number[]>>(
      async (before, one) => [...(await before), Number.parseFloat((await one.getAttribute('width')) ?? '')],
      Promise.resolve([]),
    );
  await db.query('testCreated', `update connection set created_at = now() - interval '10 minutes' where id = $1`, [
    connection,
  ]);
  await db.query(
    'testListener',
    `insert into listener (connection_id, stream_status, status, continuity_status, epoch, last_frame_at, last_confirmed_at, heartbeat_at)
     values ($1, 'connected', 'running', 'continuous', 1, now(), now(), now())`,
    [connection],
  );
  await insertGap(db, connection, 5, 1);
  const page = await signedIn(`#/connections/${connection}`);
  await page.getByRole('img', { name: /^1 gaps since/ }).waitFor();
  const [, gap] = await shares(page);
  t.ok(gap && gap > 9 && gap < 11, `a minute of ten is a tenth of the line, not ${gap} percent`);
  for (let n = 1; n < 50; n++) await insertGap(db, connection, 300 - n, 0.1);
  await page.reload();
  await page.getByRole('img', { name: /^50 gaps since .*, partly not known$/ }).waitFor();
  t.strictSame(complaints, []);
});
