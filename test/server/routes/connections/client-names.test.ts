import t from 'tap';
import { insertSimulated, insertSocial } from '../../../fixture/rows.js';
import { startTestEdge } from '../../edge-fixture.js';

const person = (id: string) => ({ provider: 'simulated', external_actor: { kind: 'person', id } });

t.test('a connection is made with names, found by its reference, and its events carry it', async (t) => {
  const { call } = await startTestEdge(t);
  const names = { reference: 'customer-4711', labels: ['sales', 'trial'] };
  const made = await call('POST', '/v1/connections', { body: { ...person('ada'), ...names } });
  t.match(made.json, names);
  const { id } = made.json;
  const same = await call('POST', '/v1/connections', { body: { ...person('bob'), reference: names.reference } });
  t.match(same.json, { reference: names.reference, labels: [] }, 'a reference is not unique');
  await call('POST', '/v1/connections', { body: person('eve') });
  const listed = async (query: string) =>
    (await call('GET', `/v1/connections?${query}`)).json.connections?.map((one: { id: string }) => one.id);
  t.strictSame(await listed('reference=customer-4711'), [id, same.json.id]);
  t.strictSame(await listed('reference=customer-4711&limit=1'), [id]);
  t.strictSame(await listed('reference=customer-4711&health=invalid'), []);
  const both = await call('GET', '/v1/connections?reference=customer-4711&search=ada');
  t.match(both.json, { code: 'validation_error', errors: [{ path: 'query.search' }] });

  const body = { type: 'message_received', data: {} };
  const event = await call('POST', `/v1/connections/${id}/simulated-events`, { body });
  t.equal(event.headers['x-cs-connection-reference'], names.reference);
  const read = () => call('GET', `/v1/events/${event.json.id}`);
  t.equal((await read()).headers['x-cs-connection-reference'], names.reference);
  const [summary] = (await call('GET', `/v1/connections/${id}/events`)).json.events;
  t.equal(summary?.connection_reference, names.reference);
  await call('PUT', `/v1/connections/${id}/reference`, { body: { reference: null } });
  t.notOk((await read()).headers['x-cs-connection-reference'], 'it has none any more');
});

t.test('a reference is of its workspace, and goes with its connection', async (t) => {
  const { call, db, workspaceId, key } = await startTestEdge(t);
  const { id } = await insertSimulated(db, workspaceId, 'ada');
  const rename = (body: object, as = key) => call('PUT', `/v1/connections/${id}/reference`, { body, key: as });
  t.equal((await rename({ reference: 'customer-4711' })).status, 200);
  t.equal((await call('DELETE', `/v1/connections/${id}`)).status, 204);
  t.equal((await rename({ reference: 'customer-4712' })).status, 404);
  t.strictSame((await call('GET', '/v1/connections?reference=customer-4711')).json, { connections: [] });
  const rows = await db.query('testReference', 'select reference, labels from connection where id = $1', [id]);
  for (const row of rows) t.strictSame(row, { reference: null, labels: [] });
});

t.test('a username is shown as a hint that is too little to sign in with', async (t) => {
  const { call, db, workspaceId } = await startTestEdge(t);
  for (const [username, hint] of [
    ['ada@example.com', 'a•••@example.com'],
    ['a@example.com', '•••@example.com'],
    ['ada', 'a•••'],
    ['@ada', '@•••'],
    ['a', '•••'],
    ['ada@home@example.com', 'a•••@example.com'],
  ] as const) {
    const { id } = await insertSocial(db, workspaceId, username);
    t.equal((await call('GET', `/v1/connections/${id}`)).json.account_hint, hint, username);
  }
  const { id } = await insertSimulated(db, workspaceId, 'ada');
  t.notOk('account_hint' in (await call('GET', `/v1/connections/${id}`)).json);
});
