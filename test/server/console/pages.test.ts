import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright';
import t from 'tap';
import { receiveCallbacks } from '../../fixture/callbacks.js';
import { connect, emit, subscribe } from '../../fixture/webhooks.js';
import { consoleFixture, looksRight, operatorKey, viewsOf } from './console-fixture.js';

/*
 * Each page of the console with something to show. What one does on a page has files of its own, most of them long.
 */

/** The record of the pages, which is a part of the page and not of the tests. */
const RECORD = new URL('../../../../server/console/page/console/pages.ts', import.meta.url);
const SCRIPT = '<img src=x onerror=alert(1)>';

t.test('each page shows what it is about, and as text', async (t) => {
  const service = await consoleFixture(t);
  const { client, url } = service;
  const callbacks = await receiveCallbacks(t);
  const account = await client.connect({ provider: 'social', username: 'ada', password: 'sandbox', region: 'us' });
  await client.connect({ provider: 'simulated', external_actor: { kind: 'person', id: SCRIPT } });
  const connection = await connect(client);
  const operation = await client.run(connection, 'social.people.search', { keywords: SCRIPT });
  const subscription = await subscribe(client, connection, callbacks.url, callbacks.secret);
  await emit(client, connection);
  await callbacks.next(() => true);
  const { body } = await client.send('GET', `/v1/subscriptions/${subscription}/deliveries`);
  const [delivery] = body.deliveries as { id: string }[];

  /** For each page what is behind its path, and what stands on it. */
  const shown: Record<string, { id?: string; text: string; operator?: true }> = {
    overview: { text: 'It has never signed in.' },
    connections: { text: SCRIPT },
    'connections/': { id: account, text: 'Not signed in yet' },
    operations: { text: operation.id.slice(-8) },
    'operations/': { id: operation.id, text: SCRIPT },
    subscriptions: { text: callbacks.url },
    'subscriptions/': { id: subscription, text: 'message_received' },
    'deliveries/': { id: delivery?.id ?? '', text: 'The receiver answered 204.' },
    keys: { text: '(your own)' },
    audit: { text: 'Operations were submitted' },
    installation: { text: 'Operations that wait for their turn', operator: true },
    'audit-all': { text: 'Operator at the console', operator: true },
    nodes: { text: '64 (0–63)', operator: true },
    proxies: { text: 'United States (US)', operator: true },
  };
  const paths = (await readFile(RECORD, 'utf8')).matchAll(/ path: '([^']+)'/g);
  t.strictSame(Object.keys(shown).sort(), [...paths].map(([, path]) => path).sort(), 'none is left out');

  async function visits(page: Page, operators: boolean): Promise<void> {
    for (const [path, { id = '', text, operator = false }] of Object.entries(shown)) {
      if (operator !== operators) continue;
      await page.goto(`${url}/console#/${path}${id}`);
      await page.getByRole('main').getByText(text).first().waitFor();
      await looksRight(t, page, `page-${path.replace('/', '-one')}`);
    }
  }
  for (const view of viewsOf(t)) {
    await visits(await service.signedIn('', view), false);
    await visits(await service.signedIn('', view, await operatorKey(service)), true);
  }
  t.strictSame(service.complaints, [], 'no script runs, and nothing comes from elsewhere');
});
