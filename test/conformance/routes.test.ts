import t from 'tap';
import { capabilities } from '../../actors/capabilities/catalogue.js';
import { OPERATOR, SCOPES } from '../../storage/model/records.js';
import { receiveCallbacks } from '../fixture/callbacks.js';
import { insertDeliveries } from '../server/rows.js';
import * as fields from './fields.js';
import { ROUTES } from './route-table.js';
import { compatibility } from './rows/compatibility.js';
import { connections, service } from './rows/connections.js';
import { operations, waiting } from './rows/operations.js';
import { operators } from './rows/operators.js';
import { deliveries, subscriptions } from './rows/subscriptions.js';
import { hold, type Row, type TableFixture, tableFixture } from './table.js';

/** The tables of "Endpoints", row by row: what each route answers, field by field, and each error that it names. */

/** No key 401; a key with every scope but one of the route's 403; an unknown id 404; another method 405; junk 400. */
const ALL: ReadonlySet<string> = new Set(ROUTES.map(([send]) => send));

function refusals([send, scopes]: (typeof ROUTES)[number]): Row[] {
  const [method, path] = send.split(' ') as [string, string];
  const rows: Row[] = [
    { title: 'Authentication 6, no credentials', send, scopes: 'none', status: 401 },
    ...scopes.map(
      (missing): Row => ({
        title: `Authentication 6, without ${missing}`,
        send,
        scopes: SCOPES.filter((scope) => scope !== missing),
        status: 403,
      }),
    ),
    {
      title: 'HTTP-9, wrong method',
      send: `${ALL.has(`PUT ${path}`) ? 'POST' : 'PUT'} ${path}`,
      status: 405,
      carries: { allow: new RegExp(method) },
    },
    { title: 'HTTP-9, trailing slash', send: `${method} ${path}/`, status: 404 },
  ];
  const inPath = /\{\w+\}/;
  if (inPath.test(path)) {
    rows.push({ title: 'Errors 1, unknown id', send: send.replace(inPath, '{nobody}'), status: 404 });
    rows.push({ title: 'HTTP-8, malformed id', send: send.replace(inPath, 'not-an-id'), status: 404 });
  }
  if (!path.includes('?')) rows.push({ title: 'HTTP-6, unknown query', send: `${send}?x=1`, body: {}, status: 400 });
  rows.push({ title: 'HTTP-6 and HTTP-7, unknown keys', send, body: { surprise: 1 }, status: 400 });
  rows.push({ title: 'HTTP-4, invalid JSON', send, body: '{"a":', status: 400 });
  const asked = rows.filter((row) => !row.send.startsWith('GET') || row.body === undefined);
  return scopes.includes(OPERATOR) ? asked.map((row): Row => ({ scopes: OPERATOR, ...row })) : asked;
}

async function challenged(on: TableFixture): Promise<void> {
  const login = await on.service.client.settled(on.names.login);
  on.names.challenge = login.challenge?.id ?? '';
}

t.test('every route answers what its row of the contract promises', async (t) => {
  const callbacks = await receiveCallbacks(t);
  const on = await tableFixture(t);
  Object.assign(on.names, { callback: callbacks.url, secret: callbacks.secret });
  await t.test('Service', (t) => hold(t, on, service));
  await t.test('Connections', (t) => hold(t, on, connections));
  await t.test('Operations', (t) => hold(t, on, operations));
  await challenged(on);
  await t.test('Operations, while a challenge waits', (t) => hold(t, on, waiting));
  await t.test('Compatibility invitation route', (t) => hold(t, on, compatibility));
  await t.test('Subscriptions and events', (t) => hold(t, on, subscriptions));
  const stored = await insertDeliveries(on.db, on.names.subscription ?? '', ['delivered', 'failed', 'failed']);
  [on.names.delivered, on.names.failed] = [stored.deliveries[0] ?? '', stored.deliveries[1] ?? ''];
  await t.test('Deliveries', (t) => hold(t, on, deliveries));
  on.names.workspace = on.service.workspaceId;
  await t.test('Operators', (t) => hold(t, on, operators));
  await t.test('What every route refuses', (t) => hold(t, on, ROUTES.flatMap(refusals)));

  const { body } = await on.call({ send: 'GET /v1/operations/{operation}' });
  const [attempt] = body.attempts as object[];
  const [entry] = body.timeline as { at: string }[];
  t.strictSame(Object.keys(attempt ?? {}), fields.ATTEMPT, 'an attempt has the fields of the contract');
  t.strictSame(Object.keys(entry ?? {}), fields.TIMELINE, 'so has an entry of the timeline');
  for (const at of [body.created_at, body.updated_at, entry?.at]) t.match(at, fields.TIMESTAMP);
  const { body: connection } = await on.call({ send: 'GET /v1/connections/{sue}' });
  t.strictSame(Object.keys(connection.recruiter as object), fields.RECRUITER);
  t.strictSame(
    connection.capabilities,
    capabilities.map(({ name }) => name),
  );
});
