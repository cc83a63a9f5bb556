import t from 'tap';
import type { Client } from '../fixture/client.js';
import { eventually } from '../fixture/eventually.js';
import { type ServiceFixture, serviceFixture, startService } from '../fixture/service.js';
import { longTest } from '../fixture/size.js';

/**
 * Two processes on one database: any node accepts any request, only the owner of the connection's partition executes.
 * The connections are simulated, since each node has a stand-in network of its own.
 */

const simulated = (id: string) => ({ provider: 'simulated', external_actor: { kind: 'person', id } });
const profile = (id: string) => ({ profile_id: id });
const TWINS = 200;

async function owners(fixture: ServiceFixture): Promise<Map<string, number>> {
  const rows = await fixture.db.query<{ node: string; count: number }>(
    'testOwners',
    'select node_id as node, count(*)::int as count from partition where lease_until > now() group by node_id',
  );
  return new Map(rows.map((row) => [row.node, row.count]));
}

/** Resolves when the partitions are shared out as `wanted` lists them, the counts in ascending order. */
async function shared(fixture: ServiceFixture, wanted: number[]): Promise<void> {
  await eventually(
    `partitions shared out as ${wanted.join()}`,
    async () => [...(await owners(fixture)).values()].sort((a, b) => a - b),
    (counts) => counts.join() === wanted.join(),
  );
}

/** Connections until each node owns at least one: the first of each, whichever node it is. */
async function oneOfEach(fixture: ServiceFixture, client: Client): Promise<[string, string]> {
  const byOwner = new Map<string, string>();
  for (let n = 0; byOwner.size < 2; n++) {
    const id = await client.connect(simulated(`spread-${n}`));
    const [row] = await fixture.db.query<{ node: string }>(
      'testOwnerOf',
      'select p.node_id as node from connection c join partition p on p.id = c.partition where c.id = $1',
      [id],
    );
    if (row && !byOwner.has(row.node)) byOwner.set(row.node, id);
  }
  return [...byOwner.values()] as [string, string];
}

const counted = (answers: { status: number }[]) => {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
};

const stored = async (fixture: ServiceFixture, key: string) => {
  const [row] = await fixture.db.query<{ count: number }>(
    'testStored',
    'select count(*)::int as count from operation where idempotency_key like $1',
    [key],
  );
  return row?.count;
};

/** How many messages the connection has sent. */
async function sentBy(client: Client, connection: string): Promise<number> {
  const { body } = await client.send('GET', `/v1/connections/${connection}/events`);
  return (body.events as { type: string }[]).filter(({ type }) => type === 'message_sent').length;
}

t.test('two nodes are one service', async (t) => {
  const fixture = await serviceFixture(t, { ACTOR_THREADS: '2', BROWSER_PATH: '/bin/false' });
  const first = await startService(t, fixture);

  await t.test('of 200 concurrent twins on one node one is accepted, and other inputs conflict', async (t) => {
    const connection = await first.client.connect(simulated('ada'));
    const submit = (input: object, key: string) => first.client.submit(connection, 'social.profile.get', input, key);

    const twins = await Promise.all(Array.from({ length: TWINS }, () => submit(profile('same'), 'twin')));
    t.strictSame(counted(twins), { 200: TWINS - 1, 202: 1 });
    t.equal(new Set(twins.map((answer) => answer.body.id)).size, 1, 'one operation');
    t.ok(twins.every(({ status, headers }) => (headers['idempotency-replayed'] === 'true') === (status === 200)));

    const mixed = await Promise.all(
      Array.from({ length: TWINS }, (_, n) => submit(profile(n % 2 ? 'left' : 'right'), 'mixed')),
    );
    t.strictSame(counted(mixed), { 200: TWINS / 2 - 1, 202: 1, 409: TWINS / 2 });
    for (const { status, body } of mixed) if (status === 409) t.strictSame(body, { code: 'idempotency_conflict' });
    t.equal(await stored(fixture, 'mixed'), 1);
  });

  const second = await startService(t, fixture);
  await shared(fixture, [32, 32]);
  const nodes = [first.client, second.client];
  const [mine, other] = await oneOfEach(fixture, first.client);

  await t.test('200 twins spread over both nodes make one operation', async (t) => {
    for (const connection of [mine, other]) {
      const key = `twin-${connection}`;
      const answers = await Promise.all(
        Array.from({ length: TWINS }, (_, n) =>
          nodes[n % 2]!.submit(connection, 'social.profile.get', profile('same'), key),
        ),
      );
      t.strictSame(counted(answers), { 200: TWINS - 1, 202: 1 });
      t.equal(await stored(fixture, key), 1);
      const id = answers[0]?.body.id;
      const done = await Promise.all(nodes.map((client) => client.settled(id)));
      t.strictSame(done[0], done[1], 'both nodes answer the same');
      t.match(done[0], { status: 'succeeded', attempts: [{ number: 1 }] });
      const conflict = await second.client.submit(connection, 'social.profile.get', profile('else'), key);
      t.strictSame([conflict.status, conflict.body], [409, { code: 'idempotency_conflict' }]);
    }
  });

  await t.test('what is submitted to either node runs once and in order', async (t) => {
    for (const connection of [mine, other]) {
      const ids: unknown[] = [];
      for (let n = 0; n < 40; n++) {
        const answer = await nodes[n % 2]!.submit(connection, 'social.profile.get', profile(`p${n}`));
        t.equal(answer.status, 202);
        ids.push(answer.body.id);
      }
      const done = await Promise.all(ids.map((id, n) => nodes[n % 2]!.settled(id)));
      t.ok(done.every((one) => one.status === 'succeeded' && one.attempts.length === 1));
      const started = done.map((one) => (one.timeline[1] as unknown as { at: string }).at);
      t.strictSame(started, [...started].sort(), 'in the order of acceptance');
    }
  });

  await t.test('waiting, cancelling and codes work on the node that does not own', async (t) => {
    for (const client of nodes) {
      for (const connection of [mine, other]) {
        const slow = await client.submit(connection, 'social.profile.get', profile('sim-delay-1500'));
        const waited = await client.send('GET', `/v1/operations/${slow.body.id}`, undefined, { Prefer: 'wait=20' });
        t.match(waited, { status: 200, body: { status: 'succeeded' }, headers: { 'preference-applied': 'wait=20' } });

        const endless = await client.submit(connection, 'social.profile.get', profile('sim-delay-60000'));
        const behind = await client.submit(connection, 'social.profile.get', profile('behind'));
        await running(client, endless.body.id);
        const asked = await client.send('POST', `/v1/operations/${endless.body.id}/cancel`);
        t.match(asked, { status: 200, body: { cancel_requested: true } });
        t.match(await client.settled(endless.body.id), { status: 'canceled' }, 'the owner learns of it');
        t.match(await client.settled(behind.body.id), { status: 'succeeded' });

        const login = await client.submit(connection, 'social.recruiter.switch', { contract: 'sim-challenge-sms' });
        const waiting = await client.settled(login.body.id);
        t.match(waiting, { status: 'waiting_user', challenge: { kind: 'sms' } });
        const code = { challenge_id: waiting.challenge!.id, code: '000000' };
        const accepted = await client.send('POST', `/v1/operations/${login.body.id}/challenge`, code);
        t.equal(accepted.status, 202);
        t.match(await client.answered(login.body.id, code.challenge_id), { status: 'succeeded' }, 'the code arrives');
      }
    }
  });

  await t.test('a look is asked for at any node, and made by the owner', async (t) => {
    for (const connection of [mine, other]) {
      const input = { recipient_actor_id: 'SIM_joan', body: 'sim-unknown-written' };
      const { id } = await first.client.run(connection, 'social.message.send', input);
      for (const { client } of [first, second]) {
        const { body } = await client.send('POST', `/v1/operations/${id}/reconcile`);
        t.match(body, { status: 'outcome_unknown', evidence: { look: { found: 'one' } } });
      }
    }
  });

  await t.test('a killed node is replaced when its lease has run out, and all that was accepted ends', async (t) => {
    const accepted: string[] = [];
    const before = new Map<string, number>();
    for (const connection of [mine, other]) {
      before.set(connection, await sentBy(first.client, connection));
      for (const id of ['sim-delay-800', 'a', 'b', 'c']) {
        accepted.push(await second.client.accepted(connection, 'social.profile.get', profile(id)));
      }
      const write = { recipient_actor_id: 'sim-delay-800', body: 'once' };
      accepted.push(await second.client.accepted(connection, 'social.message.send', write));
    }
    await second.kill();
    await shared(fixture, [64]);
    const done = await Promise.all(accepted.map((id) => first.client.settled(id)));
    t.ok(
      done.every((one) => one.status === 'succeeded'),
      JSON.stringify(done.map(({ status, error_code, attempts }) => [status, error_code, attempts])),
    );
    for (const connection of [mine, other]) {
      t.equal(await sentBy(first.client, connection), 1 + before.get(connection)!, 'the message was sent once');
    }
  });

  await longTest(t, 'a node that joins again takes its share, and one that leaves hands over at once', async (t) => {
    const third = await startService(t, fixture);
    await shared(fixture, [32, 32]);
    const ids: string[] = [];
    for (const connection of [mine, other]) {
      ids.push(await third.client.accepted(connection, 'social.profile.get', profile('sim-delay-500')));
      ids.push(await third.client.accepted(connection, 'social.profile.get', profile('next')));
    }
    t.equal(await third.stop(), 0);
    const done = await Promise.all(ids.map((id) => first.client.settled(id)));
    t.ok(done.every((one) => one.status === 'succeeded'));
    await shared(fixture, [64]);
  });
});

async function running(client: Client, id: unknown): Promise<void> {
  await eventually(
    'the operation runs',
    () => client.send('GET', `/v1/operations/${id}`),
    ({ body }) => body.status === 'running',
  );
}
