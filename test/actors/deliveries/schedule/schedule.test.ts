import type { ServerResponse } from 'node:http';
import t from 'tap';
import { clearSession, lockIdleConnection, markDeleted } from '../../../../storage/connections/connection-changes.js';
import { stopSubscription, stopWork } from '../../../../storage/connections/stopping.js';
import { replayDelivery, replayFailedDeliveries } from '../../../../storage/deliveries/replay.js';
import { activateSubscription, lockSubscription } from '../../../../storage/deliveries/subscriptions.js';
import type { Database } from '../../../../storage/postgres/database.js';
import { authority } from '../../../fixture/certificates.js';
import { clockedDatabase } from '../../../fixture/database-clock.js';
import { eventually } from '../../../fixture/eventually.js';
import { receiver } from '../../../fixture/https-receiver.js';
import { jobState } from '../../../fixture/jobs.js';
import {
  type Connection,
  DeliveryHost,
  type DeliveryState,
  deliveries,
  insertConnection,
  insertSubscription,
  record,
} from '../delivery-host.js';

/**
 * What callers can do, in every state that a delivery's schedule has (contract: "Delivery"; EVT-5, EVT-6), on a database's
 * clock that the test moves. A delivery is brought into the state, the action is done, and then everything that could still
 * happen to it happens.
 */
const WAITS_s = [1, 5, 30, 120];
const ATTEMPTS = WAITS_s.length + 1;

const LIVE = [
  'recorded',
  ...WAITS_s.flatMap((wait_s, i) => [`sending ${i + 1}`, `waiting ${wait_s}`]),
  `sending ${ATTEMPTS}`,
];
const OVER = ['failed', 'delivered', 'canceled'];
const ACTIONS = ['deactivate', 'disconnect', 'delete', 'replay', 'bulk replay'] as const;
type Action = (typeof ACTIONS)[number];

const certificates = await authority();
const { db, clock } = await clockedDatabase(t);
/** What the receiver does with the requests to a path; the test answers the held ones. */
const behaviours = new Map<string, 'fail' | 'accept' | 'hold'>();
const held: ServerResponse[] = [];
const hook = await receiver(t, await certificates.issue({ ip: '127.0.0.1' }), ({ path }, response) => {
  if (behaviours.get(path) === 'hold') held.push(response);
  else response.writeHead(behaviours.get(path) === 'accept' ? 204 : 500).end();
});
const host = await DeliveryHost.start(t, db, { ca: certificates.ca });

interface Subject {
  connection: Connection;
  subscription: string;
  path: string;
}

const requestsOf = ({ path }: Subject) => hook.received.filter((request) => request.path === path).length;

async function look({ subscription }: Subject): Promise<DeliveryState | undefined> {
  return (await deliveries(db, subscription))[0];
}

/** Starts the attempt that is due now. */
const fetch = ({ connection }: Subject) => host.fetch(connection.partition);

/** The delivery, once the attempt that is under way is written. */
const ended = (subject: Subject) =>
  eventually(
    'the attempt is written and the subscription idle',
    () => look(subject),
    (delivery) =>
      delivery === undefined || (delivery.status !== 'sending' && host.dispatcher.stats().subscriptions === 0),
  );

const moveBy = (s: number) => clock.moveTo(new Date(clock.now().getTime() + s * 1_000));

/** Makes the attempt that is due, lets it fail, and returns the delivery; its retry is due after `WAITS_s[number - 1]`. */
async function fail(subject: Subject, number: number): Promise<DeliveryState> {
  await moveBy(0);
  if ((await fetch(subject)) !== 1) throw new Error(`attempt ${number} is not due`);
  await eventually(
    'the attempt has failed',
    () => look(subject),
    (delivery) => delivery?.attempts.filter(({ outcome }) => outcome === 'failed').length === number,
  );
  return (await ended(subject)) as DeliveryState;
}

/** A delivery of its own in this state. */
async function bring(state: string): Promise<Subject> {
  const connection = await insertConnection(db);
  const path = `/${connection.id}`;
  const subscription = await insertSubscription(db, connection, hook.url.replace('/hook', path));
  const subject = { connection, subscription, path };
  await record(db, connection);
  const [kind, number] = state.split(' ');
  switch (kind) {
    case 'recorded':
      return subject;
    case 'delivered':
      behaviours.set(path, 'accept');
      await fetch(subject);
      await ended(subject);
      return subject;
    case 'canceled':
      await db.transaction((tx) =>
        stopSubscription(tx, { id: subscription, partition: connection.partition, connection_id: connection.id }),
      );
      await db.transaction((tx) => activateSubscription(tx, subscription));
      return subject;
  }
  const failures =
    kind === 'failed' ? ATTEMPTS : kind === 'sending' ? Number(number) - 1 : WAITS_s.indexOf(Number(number)) + 1;
  for (let i = 1; i <= failures; i++) {
    await fail(subject, i);
    if (i < failures || kind === 'sending') await moveBy(WAITS_s[i - 1] as number);
  }
  if (kind === 'sending') {
    behaviours.set(path, 'hold');
    const before = held.length;
    await fetch(subject);
    await eventually(
      'the receiver holds the request',
      () => held.length,
      (count) => count > before,
    );
    behaviours.delete(path);
  }
  return subject;
}

/** As the routes do it. Returns what a replay answers. */
async function act(action: Action, { connection, subscription }: Subject, delivery: DeliveryState): Promise<unknown> {
  const { id, partition } = connection;
  return db.transaction(async (tx) => {
    switch (action) {
      case 'deactivate':
        await lockSubscription(tx, { id: subscription, connection_id: id });
        return stopSubscription(tx, { id: subscription, partition, connection_id: id });
      case 'disconnect':
        await lockIdleConnection(tx, id);
        await clearSession(tx, id);
        return stopWork(tx, { id, partition, reason: 'connection_disconnected' });
      case 'delete':
        await lockIdleConnection(tx, id);
        await markDeleted(tx, id);
        return stopWork(tx, { id, partition, reason: 'connection_deleted' });
      case 'replay':
        return replayDelivery(tx, delivery.id);
      case 'bulk replay': {
        const none = '00000000-0000-0000-0000-000000000000';
        return (
          (await replayFailedDeliveries(tx, { id: subscription, connection_id: id }, new Date(0), none, 100))
            ?.replayed ?? 'inactive'
        );
      }
    }
  });
}

/** Answers what is held, and lets a time pass in which every retry would have come. */
async function letGo(subject: Subject, status: number): Promise<void> {
  for (const response of held.splice(0)) response.writeHead(status).end();
  await host.quiet();
  await ended(subject);
}

async function jobs(sql: Database, subscriptionId: string): Promise<number> {
  return (await jobState(sql, subscriptionId)) === undefined ? 0 : 1;
}

const replays = async (subject: Subject): Promise<number | undefined> => {
  const rows = await db.query<{ replay_count: number }>(
    'testReplays',
    'select replay_count from delivery where subscription_id = $1',
    [subject.subscription],
  );
  return rows[0]?.replay_count;
};

for (const state of [...LIVE, ...OVER]) {
  t.test(`a delivery that is ${state}`, async (t) => {
    const live = LIVE.includes(state);
    const sending = state.startsWith('sending');
    for (const action of ACTIONS) {
      await t.test(action, async (t) => {
        const subject = await bring(state);
        const before = (await look(subject)) as DeliveryState;
        t.equal(before.status, live ? (sending ? 'sending' : 'pending') : state);
        const requests = requestsOf(subject);
        const answer = await act(action, subject, before);

        if (action === 'delete') {
          await letGo(subject, 200);
          await moveBy(WAITS_s.at(-1)!);
          await fetch(subject);
          t.match(await look(subject), { status: live ? 'canceled' : state }, 'it is hidden, and goes later');
          t.equal(await jobs(db, subject.subscription), 0, 'and so is its job');
          t.equal(requestsOf(subject), requests, 'nothing more is sent');
          return;
        }

        if (action === 'deactivate' || action === 'disconnect') {
          await letGo(subject, 200);
          await moveBy(WAITS_s.at(-1)!);
          t.equal(await fetch(subject), 0, 'nothing is due any more');
          t.equal(requestsOf(subject), requests);
          const after = (await look(subject)) as DeliveryState;
          const status = live ? 'canceled' : state;
          t.match(after, { status, job: null, next_attempt_at: null, attempt_count: before.attempt_count });
          const last = after.attempts.at(-1);
          if (sending) t.match(last, { sequence: before.attempt_count, outcome: 'canceled', closed: true });
          t.ok(after.attempts.every(({ closed }) => closed));
          const refusal = state === 'failed' ? 'subscription_inactive' : 'delivery_not_failed';
          t.equal(await act('replay', subject, before), refusal, 'it is not replayed');
          t.equal(await act('bulk replay', subject, before), 'inactive');
          await db.transaction((tx) => activateSubscription(tx, subject.subscription));
          t.equal(await fetch(subject), 0, 'an active subscription does not bring it back');
          t.equal((await look(subject))?.status, status);
          return;
        }

        if (state !== 'failed') {
          t.equal(answer, action === 'replay' ? 'delivery_not_failed' : 0, 'refused');
          t.strictSame(await look(subject), before, 'and nothing has changed');
          t.equal(await replays(subject), 0);
          if (!live) return;
          await letGo(subject, 500);
          let made = ((await look(subject)) as DeliveryState).attempt_count;
          while (made < ATTEMPTS) {
            if (made > 0) await moveBy(WAITS_s[made - 1] as number);
            made = (await fail(subject, made + 1)).attempt_count;
          }
          t.match(await look(subject), { status: 'failed', attempt_count: ATTEMPTS, job: null });
          t.equal(requestsOf(subject), ATTEMPTS, 'five attempts in all');
          return;
        }

        t.equal(answer, action === 'replay' ? 'replayed' : 1);
        t.equal(await replays(subject), 1);
        t.match(await look(subject), {
          id: before.id,
          status: 'pending',
          attempt_count: ATTEMPTS,
          series_attempts: 0,
          job: 'created',
        });
        t.equal(await act('replay', subject, before), 'delivery_not_failed', 'once');
        for (let i = 1; i <= ATTEMPTS; i++) {
          const { status, next_attempt_at, attempt_count } = await fail(subject, ATTEMPTS + i);
          t.equal(attempt_count, ATTEMPTS + i);
          const wait_s = WAITS_s[i - 1];
          if (wait_s === undefined) t.equal(status, 'failed');
          else {
            t.strictSame(next_attempt_at, new Date(clock.now().getTime() + wait_s * 1_000));
            await clock.moveTo(new Date(clock.now().getTime() + wait_s * 1_000 - 1));
            t.equal(await fetch(subject), 0, 'not a millisecond early');
            await clock.moveTo(next_attempt_at as Date);
          }
        }
        await moveBy(WAITS_s.at(-1)!);
        t.equal(await fetch(subject), 0, 'and no further one');
        const after = (await look(subject)) as DeliveryState;
        t.match(after, { status: 'failed', attempt_count: 2 * ATTEMPTS, job: null });
        t.strictSame(
          after.attempts.map(({ sequence }) => sequence),
          Array.from({ length: 2 * ATTEMPTS }, (_, i) => i + 1),
        );
        t.equal(requestsOf(subject), 2 * ATTEMPTS);
      });
    }
  });
}
