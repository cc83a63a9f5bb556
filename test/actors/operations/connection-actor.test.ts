import { createHash, randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import { v7 as uuidv7 } from 'uuid';
import { capabilityNamed } from '../../../actors/capabilities/catalogue.js';
import { LeaseCell } from '../../../actors/lease.js';
import { Attempt } from '../../../actors/operations/attempt/attempt.js';
import { type Execution, Interrupted, type Outcome } from '../../../actors/operations/attempt/execution.js';
import { OperationBatches } from '../../../actors/operations/attempt/operation-batches.js';
import { ConnectionActor } from '../../../actors/operations/connection-actor.js';
import { OperationCounters } from '../../../actors/operations/operation-counters.js';
import { createLogger } from '../../../storage/log/log.js';
import { UNKNOWN_PROGRESS } from '../../../storage/model/evidence.js';
import { findOperations, resultOf } from '../../../storage/operations/operations.js';
import type { StartedOperation } from '../../../storage/operations/starts.js';
import { submitOperations } from '../../../storage/operations/submission.js';
import { Tally } from '../../../storage/overview/tally.js';
import { claimPartitions, renewLeases } from '../../../storage/partitions/partitions.js';
import { type Database, openDatabase } from '../../../storage/postgres/database.js';
import { FairSlots } from '../../../storage/process/fair-slots.js';
import { keyRing } from '../../../storage/secrets/encryption.js';
import { freshDatabase } from '../../fixture/database.js';
import { eventually } from '../../fixture/eventually.js';
import { insertSimulated, insertWorkspace } from '../../fixture/rows.js';

const WORKER = { node_id: randomUUID(), thread: 'actors-0' };

/** A connection's actor on a real database, with a provider that ends each operation as the test says. */
async function ground(t: Test, provider: (execution: Execution) => Promise<Outcome>) {
  const { db, url } = await freshDatabase(t);
  const workspaceId = await insertWorkspace(db);
  const connection = await insertSimulated(db, workspaceId, 'ada');
  const node = randomUUID();
  await renewLeases(db, node, 60_000);
  const owned = await db.transaction((tx) => claimPartitions(tx, node, 64, 60_000));
  const { id: partition, epoch } = owned.find(({ id }) => id === connection.partition)!;
  const lease = new LeaseCell();
  lease.renewed(LeaseCell.now(), 60_000, [partition]);
  const ended = new Map<string, () => void>();
  const states = { actor: [] as string[], attempt: [] as string[] };
  let onAttempt: (state: string) => void = () => {};
  const home = {
    id: partition,
    epoch,
    tenure: 'owned' as const,
    load: { waiting: 0, running: 0 },
    ended: () => {},
    idle: () => {},
    doubt: () => {},
  };
  const tally = new Tally();
  const look = () => Promise.reject(new Error('no look was given'));
  const log = createLogger({ level: 'silent', format: 'json' }, {});
  const actor = new ConnectionActor(connection.id, home, {
    db,
    batches: new OperationBatches(db, db, WORKER, () => {}),
    ring: keyRing([]),
    lease,
    log,
    ended: () => {},
    providers: { simulated: { run: provider, look }, social: { run: provider, look } },
    counters: new OperationCounters(),
    tally,
    largeAttempts: new FairSlots(1),
    storedBound: null,
    awaitable: (id) => ended.get(id)?.(),
    changed: () => {},
    looked: () => {},
    onActorState: (_, kind) => states.actor.push(kind),
    onAttemptState: (_, kind) => {
      states.attempt.push(kind);
      onAttempt(kind);
    },
  });
  /** Submits an operation and gives it once it has ended. */
  const run = async (capability: string, input: object = {}) => {
    const id = uuidv7();
    const digest = createHash('sha256').update(id).digest();
    await submitOperations(
      db,
      [
        {
          ...{ id, workspaceId, connectionId: connection.id, partition, capability, idempotencyKey: id },
          ...{ keyHash: digest, fingerprint: digest, inputSealed: null, acceptedAt: new Date() },
          input: JSON.stringify(input),
        },
      ],
      [{ id: partition, epoch }],
    );
    const end = new Promise<void>((resolve) => ended.set(id, resolve));
    actor.take({ id, large: false, workspaceId });
    await end;
    const [row] = await findOperations(db, [id]);
    return row && { ...row, result: resultOf(db, row) };
  };
  /** Resolves when the attempt that runs enters this state. */
  const entered = (state: string) =>
    new Promise<void>((resolve) => {
      onAttempt = (kind) => kind === state && resolve();
    });
  return { db, url, run, actor, states, entered, tally };
}

/** An event of no connection: nothing stores it. */
const EVENT = { connectionId: 'no id', providerEventId: '1', type: 'message_sent' as const, data: {} };

t.test('an outcome that nothing stores ends its operation, and the next one runs', async (t) => {
  const { run } = await ground(t, async (execution) => {
    const stored = { status: 'succeeded', result: {} } as const;
    if (execution.capability.name === 'social.identity.get') return stored;
    if (execution.capability.name === 'social.message.send') await execution.boundary();
    return { ...stored, effects: { events: [EVENT] } };
  });
  const details = { reason: 'outcome_unstorable', retryable: false };
  t.match(await run('social.health.check'), { status: 'failed', error_code: 'internal_error', error_details: details });
  t.match(
    await run('social.message.send'),
    {
      status: 'outcome_unknown',
      error_code: null,
      evidence: { fault: 'internal_error', request: { sent: 'unknown' } },
    },
    'a write stays in question',
  );
  t.match(await run('social.identity.get'), { status: 'succeeded' });
});

t.test('a write whose running time ended past its boundary has evidence of that', async (t) => {
  const { run } = await ground(t, async (execution) => {
    await execution.boundary();
    throw new Interrupted('deadline');
  });
  const operation = await run('social.message.send');
  const evidence = { request: { sent: 'unknown', at: null }, answer: null, fault: 'deadline_exceeded' };
  t.match(operation, { status: 'outcome_unknown', attempts: [{ phase: 'dispatching', boundary: WORKER }] });
  t.strictSame(operation?.evidence, evidence);
});

t.test(
  'a write of which nothing left goes back before its boundary as its attempt ends, and only then is made again',
  async (t) => {
    const unsent = { status: 'failed', failure: { code: 'session_fenced' }, transient: true, unsent: true } as const;
    const ends: Outcome[] = [
      { ...unsent, own: { wait_ms: 0 } },
      { status: 'succeeded', result: {} },
    ];
    const { run, tally } = await ground(t, async (execution) => {
      if (execution.capability.kind === 'write') await execution.boundary();
      return ends.shift() ?? { ...unsent, transient: false };
    });
    t.match(await run('social.message.send'), {
      status: 'succeeded',
      attempts: [
        { status: 'failed', phase: 'preparing', boundary: WORKER },
        { status: 'succeeded', phase: 'done' },
      ],
    });
    t.match(await run('social.message.send'), { status: 'failed', attempts: [{ phase: 'preparing' }] });
    t.match(await run('social.identity.get'), { status: 'failed', attempts: [{ phase: 'reading' }] });
    t.match(
      tally.take(),
      [[String, { moves: 5, resumes: 0 }]],
      'who watches is told of each start, and of what goes back',
    );
  },
);

t.test('an end whose connection moved on changes nothing there, and publishes nothing', async (t) => {
  const ends: Record<string, Outcome> = {
    'social.login': { status: 'succeeded', result: {}, effects: { newSession: true, health: 'ready' } },
    'social.health.check': { status: 'succeeded', result: {}, effects: { health: 'ready', actorId: 'ACoAAother' } },
    'social.message.send': {
      status: 'outcome_unknown',
      evidence: { ...UNKNOWN_PROGRESS, fault: 'connection_lost' },
      effects: { health: 'needs_login' },
    },
    'social.identity.get': {
      ...{ status: 'failed', failure: { code: 'authentication_failed' }, effects: { health: 'needs_login' } },
    },
  };
  const moved = new Set<string>();
  const { db, run } = await ground(t, async ({ operationId, connection, capability }) => {
    if (!moved.has(operationId)) {
      const move = 'update connection set state_revision = state_revision + 1 where id = $1';
      await db.query('testMove', move, [connection.id]);
    }
    moved.add(operationId);
    return ends[capability.name] as Outcome;
  });
  const shown = async () =>
    (await db.query<object>('testShown', 'select state_revision, actor_id, health from connection'))[0];
  const fenced = { status: 'failed' };
  t.match(await run('social.login'), {
    ...{ status: 'succeeded', result: { state_revision: 2 }, attempts: [fenced, { status: 'succeeded' }] },
  });
  t.match(await run('social.health.check'), { status: 'succeeded', attempts: [{ number: 1 }] });
  t.match(await run('social.message.send'), { status: 'outcome_unknown', attempts: [{ number: 1 }] });
  t.strictSame(await shown(), { state_revision: 4, actor_id: 'ada', health: 'ready' });
  t.match(await run('social.identity.get'), {
    ...{ status: 'failed', error_code: 'authentication_failed', attempts: [fenced, fenced] },
  });
  t.strictSame(
    await shown(),
    { state_revision: 5, actor_id: 'ada', health: 'needs_login' },
    'as the second one found it',
  );
});

t.test('an attempt announces each state as its row follows it', async (t) => {
  const { db, run, actor, states, entered, tally } = await ground(t, async (execution) => {
    const code = await execution.challenge('sms', true);
    await execution.boundary();
    return { status: 'succeeded', result: { code } };
  });
  const done = run('social.message.send');
  await entered('waiting_user');
  const id = actor.attempting!;
  const [waiting] = await findOperations(db, [id]);
  t.match(waiting, { status: 'waiting_user', challenge: { kind: 'sms' } });
  actor.code(id, { challengeId: waiting!.challenge!.id, code: '123456' });
  await entered('closed');
  await done;
  const [row] = await eventually(
    'its end is stored',
    () => findOperations(db, [id]),
    ([one]) => one?.status !== 'running',
  );
  t.equal(row?.status, 'succeeded');
  t.match(resultOf(db, row!), { code: '123456' });
  t.strictSame(states.attempt, [
    ...['storing_challenge', 'waiting_user', 'resuming', 'running'],
    ...['entering_boundary', 'dispatching', 'closed'],
  ]);
  t.strictSame(states.actor.slice(0, 3), ['starting', 'running', 'finishing']);
  t.match(tally.take(), [[String, { moves: 1, waits: 1, resumes: 1 }]], 'who watches is told of each');
});

t.test('a challenge that could not be stored leaves no timer behind', async (t) => {
  const { url } = await freshDatabase(t);
  const db: Database = openDatabase({ url, maxConnections: 1, applicationName: 'test' });
  await db.close();
  const timers = () => process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;
  const before = timers();
  const held = { id: uuidv7(), partition: 0, epoch: 1, attemptId: uuidv7() };
  const batches = new OperationBatches(db, db, WORKER, () => {});
  const started = { capability: 'social.login', spent_ms: 0 } as StartedOperation;
  const lease = new LeaseCell();
  const log = createLogger({ level: 'silent', format: 'json' }, {});
  const attempt = new Attempt(
    { db, batches, lease, log, storedBound: null, awaitable: () => {} },
    held,
    started,
    capabilityNamed('social.login')!,
    {},
  );
  const challenge = attempt.challenge('sms', true);
  attempt.interrupt('fenced');
  await t.rejects(challenge, new Interrupted('fenced'));
  attempt.close();
  t.equal(timers(), before);
});
