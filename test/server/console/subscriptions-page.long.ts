import type { Page } from 'playwright';
import t, { type Test } from 'tap';
import { authority } from '../../fixture/certificates.js';
import { receiver } from '../../fixture/https-receiver.js';
import { ownService } from '../../fixture/shared-service.js';
import { connect, subscribe, trusting } from '../../fixture/webhooks.js';
import { insertDeliveries } from '../rows.js';
import { consoleIn, keyWithout, looksRight, VIEWS, viewsOf } from './console-fixture.js';

const SCRIPT = '<img src=x onerror=alert(1)>';

/** Answers with the status in `answers`, so that each test sets it back. */
const answers = { status: 204 };

/** A service for all tests of this file, with a receiver that it may call. */
async function started() {
  const { ca, issue } = await authority();
  const receiving = await receiver(t, await issue({ ip: '127.0.0.1' }), (_request, response) =>
    response.writeHead(answers.status).end(),
  );
  const env = { ...(await trusting(t, ca)), CALLBACK_ALLOWED_NETWORKS: '127.0.0.1/32' };
  return { service: await ownService(t, env), receiving };
}

const shared = started();

async function subscriptions(t: Test) {
  const { service, receiving } = await shared;
  /** The bodies of all callbacks so far that hold this text. */
  const bodiesWith = (text: string) =>
    receiving.received.map(({ body }) => `${body}`).filter((body) => body.includes(text));
  return { ...(await consoleIn(t, service)), hook: receiving.url, bodiesWith };
}

/** A row of a table by what stands in it. */
const row = (page: Page, text: string) => page.getByRole('row').filter({ hasText: text });

async function confirmed(page: Page, label: string): Promise<void> {
  await page.getByRole('button', { name: label }).click();
  await page.getByRole('dialog').getByRole('button', { name: label }).click();
}

t.test('a subscription is found, tried, replayed, deactivated and activated by the page', async (t) => {
  const { client, db, signedIn, hook, bodiesWith, complaints } = await subscriptions(t);
  for (const view of viewsOf(t)) {
    const connection = await connect(client);
    const subscription = await subscribe(client, connection, hook);
    const off = await subscribe(client, await connect(client), hook);
    await client.send('PATCH', `/v1/subscriptions/${off}`, { active: false });
    const hostile = await subscribe(client, await connect(client), hook);
    await db.query(
      'testHostile',
      'update subscription set callback_url = $2, callback_url_sealed = null where id = $1',
      [hostile, `https://receiver.test/${SCRIPT}`],
    );
    const page = await signedIn('#/subscriptions', view);
    await page
      .getByRole('link', { name: `https://receiver.test/${SCRIPT}` })
      .first()
      .waitFor();
    await looksRight(t, page, 'subscriptions');
    await page.getByLabel('Receives events').selectOption('Inactive');
    await row(page, 'inactive').first().waitFor();
    await page.getByRole('link', { name: SCRIPT }).first().waitFor({ state: 'detached' });

    await page.goto(page.url().replace(/#.*/, `#/subscriptions/${subscription}`));
    await page.getByText('No delivery is like this.').waitFor();
    await page.getByRole('button', { name: 'Send a test event' }).click();
    await page.getByText('A test event is on its way.').waitFor();
    await row(page, 'subscription.test').filter({ hasText: 'delivered' }).waitFor();

    const { deliveries } = await insertDeliveries(db, subscription, ['failed', 'failed', 'failed']);
    await page.reload(); // nothing tells of rows that come so
    await page.getByLabel('Status').selectOption('Failed (3)');
    await row(page, 'message_received').nth(2).waitFor();
    await looksRight(t, page, 'subscription');
    await row(page, 'message_received').first().getByRole('button', { name: 'Replay' }).click();
    await row(page, 'message_received').nth(2).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Replay all failed' }).click();
    await page.getByText('2 deliveries are tried again.').waitFor();
    await page.getByLabel('Status').selectOption('delivered');
    await row(page, 'message_received').nth(2).waitFor();

    await page.getByRole('link', { name: 'subscription.test' }).click();
    await page.getByRole('heading', { name: 'Delivery', exact: true }).waitFor();
    await page.getByText('The receiver answered 204.').waitFor();
    t.strictSame(
      bodiesWith(subscription),
      [await page.locator('pre').textContent()],
      'the body is shown as it was sent',
    );
    await looksRight(t, page, 'delivery');
    await page.goto(page.url().replace(/#.*/, `#/deliveries/${deliveries[0]}`));
    await page.getByText('message_received').first().waitFor();

    await page.goto(page.url().replace(/#.*/, `#/subscriptions/${subscription}`));
    await page.getByRole('button', { name: 'Hold', exact: true }).click();
    await page.getByText('Its deliveries wait until it is released.').waitFor();
    await page.getByText('On hold', { exact: true }).waitFor();
    t.match(await client.send('GET', `/v1/subscriptions/${subscription}`), { body: { on_hold: true } });
    await page.getByRole('button', { name: 'Release', exact: true }).click();
    await page.getByText('What waited is on its way.').waitFor();
    await page.getByText('On hold', { exact: true }).waitFor({ state: 'detached' });
    await confirmed(page, 'Deactivate');
    await page.getByText('It gets no more events.').waitFor();
    await page.getByRole('button', { name: 'Activate', exact: true }).click();
    await page.getByText('It gets events from now on.').waitFor();
    t.match(await client.send('GET', `/v1/subscriptions/${subscription}`), { body: { active: true } });

    await page.getByRole('button', { name: 'Change', exact: true }).click();
    await page.getByLabel('Address').fill('http://receiver.test/');
    await page.getByRole('button', { name: 'Change it' }).click();
    await page.getByRole('alert').waitFor();
    await looksRight(t, page, 'subscription-change');
    await page.getByLabel('Address').fill(`${hook}/moved`);
    await page.getByLabel('message_sent').check();
    await page.getByRole('button', { name: 'Change it' }).click();
    await page.getByText('It is changed.').waitFor();
    t.match(await client.send('GET', `/v1/subscriptions/${subscription}`), {
      body: { callback_url: `${hook}/moved`, event_types: ['message_received', 'message_sent'] },
    });
    await confirmed(page, 'Delete');
    await page.getByRole('heading', { name: 'Subscriptions' }).waitFor();
    t.match(await client.send('GET', `/v1/subscriptions/${subscription}`), { status: 404 });
  }
  t.strictSame(complaints, [], 'no error, no script of others, nothing from elsewhere');
});

t.test('what failed of one action is not told of the one that takes its place', async (t) => {
  const { client, signedIn, hook } = await subscriptions(t);
  const subscription = await subscribe(client, await connect(client), hook);
  const page = await signedIn(`#/subscriptions/${subscription}`);
  await page.route(`**/v1/subscriptions/${subscription}`, (route) =>
    route.request().method() === 'PATCH' ? route.abort() : route.continue(),
  );
  await confirmed(page, 'Deactivate');
  await page.getByText('No answer came, and it may have been done.').waitFor();
  await client.send('PATCH', `/v1/subscriptions/${subscription}`, { active: false });
  await page.getByRole('button', { name: 'Activate', exact: true }).waitFor();
  t.equal(await page.getByRole('alert').count(), 0);
});

t.test('one subscription for all connections is made by the page, and its secret is shown once', async (t) => {
  const { client, signedIn, hook, bodiesWith, complaints } = await subscriptions(t);
  for (const view of viewsOf(t)) {
    const connection = await connect(client);
    const page = await signedIn('#/subscriptions', view);
    await page.getByRole('button', { name: 'Subscribe to all connections' }).click();
    await page.getByLabel('Address').fill(hook);
    await page.getByRole('button', { name: 'Subscribe', exact: true }).click();
    await page.getByText('Choose which events are sent.').waitFor();
    await page.getByLabel('message_received').check();
    await looksRight(t, page, 'subscription-new');
    await page.getByRole('button', { name: 'Subscribe', exact: true }).click();
    await page.getByText('The signing secret of the new subscription').waitFor();
    await row(page, 'All of the workspace').first().waitFor();
    await looksRight(t, page, 'subscription-secret');
    await page.getByRole('button', { name: 'I have stored it' }).click();
    const event = { type: 'message_received', data: { n: 1 } };
    await client.send('POST', `/v1/connections/${connection}/simulated-events`, event);
    await row(page, 'All of the workspace').first().getByRole('link').click();
    await page.getByRole('heading', { name: 'Subscription', exact: true }).waitFor();
    await row(page, 'message_received').filter({ hasText: 'delivered' }).first().waitFor();
    await page.getByText('All of the workspace').waitFor();
    t.ok(bodiesWith(connection).length > 0);
    await confirmed(page, 'Delete');
    await page.getByRole('heading', { name: 'Subscriptions' }).waitFor();
  }
  t.strictSame(complaints, []);
});

t.test('an attempt that failed is told in words, and its delivery arrives by itself', async (t) => {
  const { client, signedIn, hook, bodiesWith, complaints } = await subscriptions(t);
  for (const view of viewsOf(t)) {
    const connection = await connect(client);
    const subscription = await subscribe(client, connection, hook);
    answers.status = 503;
    await client.send('POST', `/v1/connections/${connection}/simulated-events`, {
      type: 'message_received',
      data: { message_body: SCRIPT, n: 0.1 },
    });
    const page = await signedIn(`#/subscriptions/${subscription}`, view);
    await page.getByText('The receiver answered 503.').waitFor();
    await page.getByRole('link', { name: 'message_received' }).click();
    await row(page, 'The receiver answered 503.').first().waitFor();
    await page.getByText(SCRIPT).waitFor();
    await looksRight(t, page, 'delivery-failed');
    answers.status = 204;
    // By now it may have been tried for the third or fourth time: the next attempt is half a minute away, or two.
    await row(page, 'The receiver answered 204.').waitFor({ timeout: 150_000 });
    const shown = await page.locator('pre').textContent();
    t.ok(bodiesWith(connection).length > 1);
    for (const body of bodiesWith(connection)) t.equal(shown, body, 'each attempt carries the same');
  }
  t.strictSame(complaints, []);
});

t.test('a key without a scope sees neither the page nor its actions', async (t) => {
  const service = await subscriptions(t);
  const subscription = await subscribe(service.client, await connect(service.client), service.hook);
  const { deliveries } = await insertDeliveries(service.db, subscription, ['failed']);
  const reader = await service.signedIn(
    `#/subscriptions/${subscription}`,
    VIEWS[0],
    (await keyWithout(service, 'events:write')).key,
  );
  await row(reader, 'message_received').waitFor();
  for (const name of ['Send a test event', 'Hold', 'Deactivate', 'Change', 'Delete', 'Replay', 'Replay all failed'])
    t.equal(await reader.getByRole('button', { name }).count(), 0, name);
  await reader.goto(reader.url().replace(/#.*/, `#/deliveries/${deliveries[0]}`));
  await reader.getByText('None was made yet.').waitFor();
  t.equal(await reader.getByRole('button', { name: 'Replay' }).count(), 0);

  const none = await service.signedIn('#/subscriptions', VIEWS[0], (await keyWithout(service, 'events:read')).key);
  await none.getByText('This page needs a key with the scope events:read.').waitFor();
  t.equal(await none.getByRole('link', { name: 'Subscriptions' }).count(), 0);
  t.strictSame(service.complaints, []);
});
