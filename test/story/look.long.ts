import t, { type Test } from 'tap';
import { type Client, control, faultsSpent, ledger, type Operation } from '../fixture/client.js';
import { eventually } from '../fixture/eventually.js';
import { startService } from '../fixture/service.js';
import { inService, ownService } from '../fixture/shared-service.js';
import { type Row, signedInTo } from '../fixture/social.js';

/*
 * A client's way through a write of unknown outcome: it has the place looked at, decides, and sends anew under another key, or not.
 * The network plays what may have become of the write.
 */

interface Look {
  at: string;
  found: string | null;
  reason: string | null;
  matches: Row[];
}

/** What `reconcile` answers; its look. */
async function lookedAt(t: Test, client: Client, id: string): Promise<Look | null> {
  const { status, body } = await client.send('POST', `/v1/operations/${id}/reconcile`);
  t.match({ status, body }, { status: 200, body: { id, status: 'outcome_unknown', result: null } });
  return (body.evidence as { look: Look | null }).look;
}

/** The last test kills it. */
const service = ownService(t);

t.test('an unknown write is looked for, and the caller decides', async (t) => {
  const own = await inService(t, await service);
  const { db } = own;
  const social = await signedInTo(t, own, 'ada');
  const { client, connection, username, sandboxUrl, visitor } = social;
  const strangers = (await visitor.list<Row>('/api/search/people?network=O&count=50')).data;
  const nobody = () => ({ recipient_actor_id: strangers.pop()?.hashId });
  const fault = (mode: string, capability: string, more: object = {}) =>
    control(sandboxUrl, 'POST', '/faults', { account: username, capability, mode, times: 1, ...more });
  /** Sends under this fault; the operation, whose outcome is unknown. */
  const lost = async (mode: string, input: object, capability = 'social.message.send'): Promise<Operation> => {
    await fault(mode, capability);
    const operation = await client.run(connection, capability, input);
    t.match(operation, { status: 'outcome_unknown', evidence: { look: null } }, `${capability} under ${mode}`);
    return operation;
  };
  const look = (operation: Operation) => lookedAt(t, client, operation.id);
  const written = async (text: string) =>
    (await ledger(sandboxUrl, username)).filter((one) => one.text === text).length;

  await t.test('written and seen: it is there once, and nothing is sent again', async (t) => {
    const input = { ...nobody(), body: 'Did it arrive?' };
    const operation = await lost('drop_after_commit', input);
    const found = await look(operation);
    t.match(found, { found: 'one', reason: null, matches: [{ kind: 'message', message_urn: /^urn:social:message:/ }] });
    const { messages } = await social.read<{ messages: Row[] }>('social.messages.list', {
      conversation_id: found?.matches[0]?.conversation_id,
    });
    t.equal(found?.matches[0]?.message_urn, messages[0]?.message_urn);
    t.equal(found?.matches[0]?.delivered_at, messages[0]?.delivered_at);
    const { body } = await client.send('GET', `/v1/operations/${operation.id}`);
    t.strictSame(body.evidence, { ...operation.evidence, look: found }, 'and stays to be read');
    t.strictSame({ ...body, evidence: null }, { ...operation, evidence: null }, 'all else is as it was');
    t.equal(await written(input.body), 1);
  });

  await t.test('not written: it is nowhere, and is sent anew under another key', async (t) => {
    const input = { ...nobody(), body: 'Once more, if need be' };
    const operation = await lost('drop_before_commit', input);
    t.match(await look(operation), { found: 'none', reason: null, matches: [] });
    const again = await client.run(connection, 'social.message.send', input);
    t.match(again, { status: 'succeeded', evidence: null });
    t.equal(await written(input.body), 1, 'it is there once');
    t.match(
      await look(operation),
      { found: 'one', matches: [{ message_urn: again.result.message_id }] },
      'what else was sent since with these words matches too: its id tells',
    );
  });

  await t.test('written late: a later look sees it, and takes the place of the first', async (t) => {
    const input = { ...nobody(), body: 'It will be late' };
    const operation = await lost('drop_and_commit_late', input);
    const first = await look(operation);
    t.match(first, { found: 'none', matches: [] });
    t.strictSame(await control(sandboxUrl, 'POST', '/late', {}), { committed: 1 });
    const second = await look(operation);
    t.match(second, { found: 'one' });
    t.ok(String(second?.at) > String(first?.at));
    t.ok(Number(second?.matches[0]?.delivered_at) > Date.parse(String(first?.at)));
  });

  await t.test('two alike: the site wrote it twice, or somebody wrote the same by hand', async (t) => {
    const twice = await lost('drop_after_two_commits', { ...nobody(), body: 'Twice' });
    t.match(await look(twice), { found: 'several', matches: [{ kind: 'message' }, { kind: 'message' }] });
    const input = { ...nobody(), body: 'By hand as well' };
    const once = await lost('drop_after_commit', input);
    await visitor.api('/api/messages', { recipientHashId: input.recipient_actor_id, body: input.body });
    t.match(await look(once), { found: 'several' });
  });

  await t.test('only the same words by the same sender count, with the same content, since the attempt', async (t) => {
    const { recipient_actor_id } = nobody();
    const render_content_unions = [{ card: { title: 'Über', lines: [1, 2] } }];
    const plain = await lost('drop_before_commit', { recipient_actor_id, body: 'Words' });
    const rich = await lost('drop_after_commit', { recipient_actor_id, body: 'Words', render_content_unions });
    t.match(await look(plain), { found: 'none' }, 'the one with content is another');
    t.match(await look(rich), { found: 'one' });
    const data = { senderHashId: recipient_actor_id, body: 'Words' };
    const emitted = { account: username, action: 'emit', type: 'message_received', data };
    await control(sandboxUrl, 'POST', '/stream', emitted);
    t.match(await look(plain), { found: 'none' }, 'an answer with the same words is another');

    const own = (await visitor.api<{ data: Row }>('/api/me')).body.data.hashId;
    const threads = (await visitor.list<Row>('/api/conversations')).data;
    const talks = threads.map(({ id }) => visitor.list<Row>(`/api/conversations/${id}/messages`));
    const before = (await Promise.all(talks)).flatMap(({ data }) => data).find((one) => one.senderHashId === own);
    const input = { conversation_id: before?.conversationId, body: String(before?.body) };
    t.match(await look(await lost('drop_before_commit', input)), { found: 'none' }, 'what was written long before is');
    t.match(await look(await lost('drop_after_commit', input)), {
      found: 'one',
      matches: [{ conversation_id: before?.conversationId }],
    });
  });

  await t.test('a file, by its name and size', async (t) => {
    const { recipient_actor_id } = nobody();
    const file = (text: string, name = 'notes.txt') => ({
      ...{ recipient_actor_id, filename: name, content_type: 'text/plain' },
      data_base64: Buffer.from(text).toString('base64'),
    });
    const send = 'social.attachment.send';
    const unsent = await lost('drop_before_commit', file('abc'), send);
    const other = await lost('drop_after_commit', file('abcd'), send);
    t.match(await look(unsent), { found: 'none' }, 'another size');
    t.match(await look(other), { found: 'one', matches: [{ kind: 'attachment', filename: 'notes.txt', size: 4 }] });
    t.match(await client.run(connection, send, file('abc', 'more.txt')), { status: 'succeeded' });
    t.match(await look(unsent), { found: 'none' }, 'another name');
    const again = await client.run(connection, send, file('abc'));
    t.match(await look(unsent), { found: 'one', matches: [{ message_urn: again.result.message_id, size: 3 }] });
  });

  await t.test('an invitation, by its recipient', async (t) => {
    const send = 'social.invitation.send';
    const arrived = nobody();
    const operation = await lost('drop_after_commit', { ...arrived, message: 'Hello' }, send);
    t.match(await look(operation), { found: 'one', matches: [{ kind: 'invitation', ...arrived }] });
    const unsent = nobody();
    const other = await lost('drop_before_commit', unsent, send);
    t.match(await look(other), { found: 'none', matches: [] });
    t.match(await client.run(connection, send, unsent), { status: 'succeeded' });
    t.match(await look(other), { found: 'one', matches: [{ kind: 'invitation', ...unsent }] });
  });

  await t.test('more was written since than a look reads: it does not claim to know', async (t) => {
    const { recipient_actor_id } = nobody();
    const operation = await lost('drop_after_commit', { recipient_actor_id, body: 'Far down' });
    const data = { senderHashId: recipient_actor_id, body: 'And another thing' };
    const emitted = { account: username, action: 'emit', type: 'message_received', data };
    for (let n = 0; n < 150; n++) await control(sandboxUrl, 'POST', '/stream', emitted);
    t.match(await look(operation), { found: 'one' }, 'pages back');
    for (let n = 0; n < 100; n++) await control(sandboxUrl, 'POST', '/stream', emitted);
    t.match(await look(operation), { found: null, reason: 'too_many_newer', matches: [] });
  });

  await t.test('a read that fails is tried again, and what cannot be read is no "none"', async (t) => {
    const operation = await lost('drop_after_commit', { ...nobody(), body: 'Through trouble' });
    await fault('drop_before_commit', 'social.messages.list', { times: 2 });
    t.match(await look(operation), { found: 'one' });
    await fault('error', 'social.messages.list', { status: 503 });
    t.match(await look(operation), { found: null, reason: 'upstream_error', matches: [] });
    await fault('malformed', 'social.messages.list');
    t.match(await look(operation), { found: null, reason: 'parsing_error', matches: [] });
    t.match(await look(operation), { found: 'one', reason: null });
  });

  await t.test('one look at a time, in the turn of its connection, however often it is asked for', async (t) => {
    const operation = await lost('drop_after_commit', { ...nobody(), body: 'In turn' });
    await fault('delay', 'social.messages.list', { ms: 2_000 });
    const looks = [look(operation), look(operation), look(operation)];
    await faultsSpent(sandboxUrl);
    const queued = [];
    for (let n = 0; n < 5; n++) queued.push(await client.submit(connection, 'social.identity.get'));
    const [first, ...others] = await Promise.all(looks);
    t.match(first, { found: 'one' });
    for (const other of others) t.strictSame(other, first, 'the same look');
    for (const { body } of queued) {
      const { status, attempts } = await client.settled(body.id);
      t.equal(status, 'succeeded');
      t.ok(String((attempts[0] as unknown as Row).started_at) > String(first?.at), 'none began before the look');
    }
  });

  await t.test('while another operation has the connection nothing is looked at', async (t) => {
    const operation = await lost('drop_after_commit', { ...nobody(), body: 'Busy' });
    await fault('delay', 'social.identity.get', { ms: 1_500 });
    const running = await client.submit(connection, 'social.identity.get');
    await faultsSpent(sandboxUrl);
    t.match(await client.send('POST', `/v1/operations/${operation.id}/reconcile`), {
      status: 409,
      body: { code: 'connection_busy' },
    });
    t.match(await client.settled(running.body.id), { status: 'succeeded' });
    t.match(await look(operation), { found: 'one' });
  });

  await t.test('a disconnect ends the look; without a session nothing is looked at', async (t) => {
    const operation = await lost('drop_after_commit', { ...nobody(), body: 'Cut off' });
    await fault('hang', 'social.messages.list');
    const cut = look(operation);
    await faultsSpent(sandboxUrl);
    t.equal((await client.send('POST', `/v1/connections/${connection}/disconnect`)).status, 200);
    t.equal(await cut, null);
    t.equal(await look(operation), null);
    t.match(await client.run(connection, 'social.login'), { status: 'succeeded' });
    const found = await look(operation);
    t.match(found, { found: 'one' });
    await client.send('POST', `/v1/connections/${connection}/disconnect`);
    t.strictSame(await look(operation), found, 'what was found before stays');
    t.match(await client.run(connection, 'social.login'), { status: 'succeeded' });
  });

  await t.test('a session that the site has ended shows as such, and changes nothing', async (t) => {
    const operation = await lost('drop_after_commit', { ...nobody(), body: 'Signed out' });
    await fault('logged_out', 'social.messages.list');
    t.match(await look(operation), { found: null, reason: 'authentication_failed' });
    t.match(await client.run(connection, 'social.login', { reconnect: true }), { status: 'succeeded' });
    t.match(await look(operation), { found: 'one' });
  });

  await t.test('a connection that is deleted takes its looks along', async (t) => {
    const operation = await lost('drop_after_commit', { ...nobody(), body: 'Deleted' });
    await fault('hang', 'social.messages.list');
    const cut = client.send('POST', `/v1/operations/${operation.id}/reconcile`);
    await faultsSpent(sandboxUrl);
    t.equal((await client.send('DELETE', `/v1/connections/${connection}`)).status, 204);
    t.equal((await cut).status, 404);
    await eventually(
      'its rows are gone',
      () => db.query('testLooks', 'select from look_request union all select from operation'),
      (rows) => rows.length === 0,
    );
  });
});

t.test('a look that a node was killed in is made by its next owner, without being asked for again', async (t) => {
  const killed = await inService(t, await service);
  const social = await signedInTo(t, killed, 'grace');
  const { username, connection, visitor } = social;
  const [person] = (await visitor.list<Row>('/api/search/people?network=O&count=1')).data;
  const capability = 'social.message.send';
  await control(social.sandboxUrl, 'POST', '/faults', { capability, mode: 'drop_after_commit', times: 1 });
  const input = { recipient_actor_id: person?.hashId, body: 'Through a kill' };
  const operation = await social.client.run(connection, capability, input);
  await control(social.sandboxUrl, 'POST', '/faults', { capability: 'social.messages.list', mode: 'hang', times: 1 });
  const cut = t.rejects(social.client.send('POST', `/v1/operations/${operation.id}/reconcile`));
  await faultsSpent(social.sandboxUrl);
  await killed.kill();
  await cut;

  const { client, sandboxUrl } = await startService(t, killed);
  const { body } = await eventually(
    'the look is made',
    () => client.send('GET', `/v1/operations/${operation.id}`),
    (answer) => (answer.body.evidence as { look: unknown }).look !== null,
  );
  t.match(body, { status: 'outcome_unknown', evidence: { look: { found: 'one' } } });
  t.equal((await ledger(sandboxUrl, username)).length, 1, 'and nothing was sent again');
});
