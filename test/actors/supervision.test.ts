import { randomBytes, randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import { startNode } from '../../actors/node/node.js';
import { socialSite } from '../../browser-pool/social/site/stand-in.js';
import { createLogger } from '../../storage/log/log.js';
import { partitionOf } from '../../storage/model/records.js';
import { findOperations } from '../../storage/operations/operations.js';
import { freshDatabase } from '../fixture/database.js';
import { eventually } from '../fixture/eventually.js';
import { insertSimulated, insertWorkspace } from '../fixture/rows.js';
import { longTest } from '../fixture/size.js';

/** A node of two threads with a connection on each. */
async function twoThreads(t: Test) {
  const { url, db } = await freshDatabase(t);
  const logOptions = { level: 'silent', format: 'json' } as const;
  const threads = 2;
  const states: string[] = [];
  const node = await startNode({
    db,
    control: db,
    databaseUrl: url,
    encryptionKeys: [{ id: 'test', key: randomBytes(32) }],
    fingerprintSecret: randomBytes(32),
    workspaceOperations: 500_000,
    storedBound: null,
    actorThreads: threads,
    browserThreads: 1,
    browser: { site: socialSite({ origin: 'https://www.social.test' }) },
    deliveries: { workspacePercent: 75, concurrency: 4, allowedNetworks: [], ca: undefined, dnsServers: null },
    log: createLogger(logOptions, {}),
    logOptions,
    onState: (state) => states.push(state),
  });
  t.teardown(() => node.stop());
  const workspaceId = await insertWorkspace(db);
  const onThread = async (thread: number) => {
    for (;;) {
      const connection = await insertSimulated(db, workspaceId, randomUUID());
      if (partitionOf(connection.id) % threads === thread) return connection.id;
    }
  };
  const [struck, other] = [await onThread(0), await onThread(1)];
  const submit = async (connectionId: string, what: string | object, capability = 'social.profile.get') => {
    const idempotencyKey = randomUUID();
    const input = typeof what === 'string' ? { profile_id: what } : { ...what };
    const outcome = await node.submit({ workspaceId, connectionId, capability, input, idempotencyKey });
    return outcome.kind === 'created' ? outcome.operation.id : t.fail(`not accepted: ${outcome.kind}`);
  };
  const row = async (id: unknown) => (await findOperations(db, [String(id)]))[0]!;
  const ended = (id: unknown) =>
    eventually(
      'the operation has ended',
      () => row(id),
      ({ status }) => status !== 'queued' && status !== 'running',
    );
  return { db, node, states, struck, other, submit, row, ended };
}

longTest(t, 'a thread that throws comes back at once; nothing accepted is lost', async (t) => {
  const { node, states, struck, other, submit, row, ended } = await twoThreads(t);
  const running = await submit(struck, 'sim-delay-1500');
  const queued = await submit(struck, 'after');
  const elsewhere = await submit(other, 'sim-delay-600');
  await eventually(
    'the operation runs',
    () => row(running),
    ({ status }) => status === 'running',
  );
  t.strictSame(node.status().lacks, []);
  node.crashThread(0);
  await eventually(
    'the node shows that a thread is missing',
    async () => node.status().lacks,
    (lacks) => lacks.includes('actor_threads'),
  );
  t.match(
    await ended(elsewhere),
    { status: 'succeeded', attempts: [{ number: 1 }] },
    'the other thread did not notice',
  );
  const again = await ended(running);
  t.match(again, {
    status: 'succeeded',
    attempts: [{ status: 'abandoned' }, { status: 'succeeded' }],
    timeline: [{ to: 'queued' }, { to: 'running' }, { to: 'queued', reason: 'worker_lost' }, { to: 'running' }, {}],
  });
  t.match(await ended(queued), { status: 'succeeded', attempts: [{ number: 1 }] });
  t.equal(again.attempts.length, 2, 'the next attempt is that of the thread which came back');
  t.match(node.status(), { state: 'running', partitions: 64, actorThreads: 2 });
  t.strictSame(node.status().lacks, [], 'nothing is missing any more');
  t.strictSame(states, ['running'], 'the node kept running all along');
});

t.test('a write whose thread dies past its boundary is in question, with the thread that passed it', async (t) => {
  const { db, node, struck, submit, row, ended } = await twoThreads(t);
  const past = await db.transaction(async (tx) => {
    await tx.query('testLock', 'lock table event in share mode'); // its end, which records an event, waits
    const message = { recipient_actor_id: 'bob', body: 'once' };
    const id = await submit(struck, message, 'social.message.send');
    await eventually(
      'it is past its boundary',
      () => row(id),
      ({ attempts }) => attempts[0]?.phase === 'dispatching',
    );
    node.crashThread(0);
    // What the thread had asked before it died is cut off with it: else it would end once the lock is gone.
    const cut = `select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`;
    await eventually(
      'it was settled without its thread',
      () => db.query('testCut', cut).then(() => row(id)),
      ({ status }) => status === 'outcome_unknown',
    );
    return id;
  });
  const [partition] = await db.query<{ node_id: string }>('testOwner', 'select node_id from partition where id = $1', [
    partitionOf(struck),
  ]);
  const boundary = { node_id: partition?.node_id, thread: 'actors-0' };
  t.match(await ended(past), {
    ...{ status: 'outcome_unknown', attempts: [{ status: 'outcome_unknown', phase: 'dispatching', boundary }] },
    evidence: { fault: 'worker_lost', request: { sent: 'unknown', at: null }, answer: null },
  });
});

t.test('a node takes nothing before its threads have loaded: it would wait for them', async (t) => {
  const { node } = await twoThreads(t);
  t.equal(node.stats().hosts.length, 2, 'both have reported');
});

longTest(
  t,
  'a thread that hangs is ended and comes back; nothing accepted is lost, and the other goes on',
  async (t) => {
    const { node, states, struck, other, submit, ended } = await twoThreads(t);
    const running = await submit(struck, 'sim-delay-500');
    const queued = await submit(struck, 'after');
    node.crashThread(0, 'hang');
    t.match(await ended(await submit(other, 'ada')), { status: 'succeeded' });
    t.match(await ended(running), { status: 'succeeded' });
    t.match(await ended(queued), { status: 'succeeded', attempts: [{ number: 1 }] });
    t.match(await ended(await submit(struck, 'again')), { status: 'succeeded' });
    t.strictSame(states, ['running']);
  },
);
