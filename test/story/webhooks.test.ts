import { Webhook } from 'standardwebhooks';
import Stripe from 'stripe';
import t, { type Test } from 'tap';
import { authority } from '../fixture/certificates.js';
import type { Client } from '../fixture/client.js';
import { eventually } from '../fixture/eventually.js';
import { type Answer, type Received, type Receiver, receiver } from '../fixture/https-receiver.js';
import { type ServiceFixture, serviceFixture, startService } from '../fixture/service.js';
import { inService, ownService } from '../fixture/shared-service.js';
import { longTest } from '../fixture/size.js';
import { connect, emit, subscribe, trusting } from '../fixture/webhooks.js';

const SECRET = 'a secret of more than 32 characters';
const certificates = await authority();
const onLoopback = await certificates.issue({ ip: '127.0.0.1' });

const settings = {
  ...(await trusting(t, certificates.ca)),
  ACTOR_THREADS: '2',
  CALLBACK_ALLOWED_NETWORKS: '127.0.0.1/32',
};

/** What a test needs that ends the service and starts it again. */
const story = async (t: Test, answer?: Answer): Promise<{ fixture: ServiceFixture; hook: Receiver }> => ({
  fixture: await serviceFixture(t, settings),
  hook: await receiver(t, onLoopback, answer),
});

/** For the tests that do not. */
const service = ownService(t, settings);

/** The sessions that wait for the lock of the triggers below. */
const WAITING = `from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;

interface Delivery {
  id: string;
  status: string;
  attempts: { outcome: string; status_code: number | null; started_at: string; completed_at: string | null }[];
}

/** The subscription's delivery of `event`, or its only one, once it has this status. */
async function delivery(client: Client, subscription: string, status: string, event?: unknown): Promise<Delivery> {
  const found = await eventually(
    `the delivery is ${status}`,
    async () => {
      const { body } = await client.send('GET', `/v1/subscriptions/${subscription}/deliveries`);
      const deliveries = body.deliveries as { id: string; status: string; event_id: string }[];
      return deliveries.find(({ event_id }) => event === undefined || event_id === event);
    },
    (found) => found?.status === status,
  );
  return (await client.send('GET', `/v1/deliveries/${found?.id}`)).body as unknown as Delivery;
}

/** The text of `/metrics`, once the threads have reported what is wanted. */
const metrics = (url: string, wanted: RegExp): Promise<string> =>
  eventually(
    `/metrics shows ${wanted}`,
    async () => (await fetch(`${url}/metrics`)).text(),
    (text) => wanted.test(text),
  );

function accepted({ headers, body }: Received, secret: string): { standard: boolean; stripe: boolean } {
  const attempt = (verify: () => unknown) => {
    try {
      return Boolean(verify());
    } catch {
      return false;
    }
  };
  const header = `t=${headers['x-cs-timestamp']},${headers['x-cs-signature']}`;
  return {
    standard: attempt(() => new Webhook(`whsec_${Buffer.from(secret).toString('base64')}`).verify(body, headers)),
    stripe: attempt(() => Stripe.webhooks.signature?.verifyHeader(body, header, secret, 300)),
  };
}

longTest(t, 'the first two waits are 1 and 5 seconds of the real clock', async (t) => {
  let tried = 0;
  const hook = await receiver(t, onLoopback, (_request, response) => {
    response.writeHead(++tried < 3 ? 503 : 204).end();
  });
  const { client, metricsUrl } = await inService(t, await service);
  const connection = await connect(client);
  const subscription = await subscribe(client, connection, hook.url, SECRET);
  await emit(client, connection);
  const done = await delivery(client, subscription, 'delivered');
  const [one, two, three] = done.attempts;
  const wait_ms = (before = one, after = two) =>
    Date.parse(String(after?.started_at)) - Date.parse(String(before?.completed_at));
  t.ok(wait_ms() >= 999 && wait_ms(two, three) >= 4_999, 'as the rows of the attempts tell');
  t.match(done.attempts, [{ status_code: 503 }, { status_code: 503 }, { status_code: 204, outcome: 'delivered' }]);
  const shown = await metrics(metricsUrl, /^connection_service_delivery_latency_seconds_count 1$/m);
  t.match(
    shown,
    /^connection_service_delivery_attempts_total\{outcome="failed",error="status"\} 2$/m,
    'an operator sees what happened',
  );
  t.match(shown, /^connection_service_delivery_attempts_total\{outcome="delivered",error="none"\} 1$/m);
  t.match(
    shown,
    /^connection_service_delivery_latency_seconds_bucket\{le="5"\} 0$/m,
    'the waits are part of the latency',
  );
});

t.test('stock verifiers accept the callbacks with every secret that has not expired', async (t) => {
  const hook = await receiver(t, onLoopback);
  const { client, db } = await inService(t, await service);
  const connection = await connect(client);
  const subscription = await subscribe(client, connection, hook.url, SECRET);
  const both = { standard: true, stripe: true };
  const neither = { standard: false, stripe: false };
  await emit(client, connection);
  await hook.arrived(1);
  t.strictSame(accepted(hook.received[0]!, SECRET), both);
  t.strictSame(accepted(hook.received[0]!, 'another secret of more than 32 characters'), neither);

  const secrets = [SECRET];
  for (let i = 0; i < 5; i++) {
    const rotated = await client.send('POST', `/v1/subscriptions/${subscription}/rotate-secret`);
    secrets.unshift(String(rotated.body.secret));
    await emit(client, connection);
    await hook.arrived(2 + i);
    for (const secret of secrets) t.strictSame(accepted(hook.received[1 + i]!, secret), both);
  }
  t.equal(secrets.length, 6);

  await db.query(
    'testOverlap',
    `update former_secret set valid_until = now() where id in (select id from former_secret order by valid_until limit 2)`,
  );
  await emit(client, connection);
  await hook.arrived(7);
  for (const secret of secrets.slice(0, 4)) t.strictSame(accepted(hook.received[6]!, secret), both);
  for (const secret of secrets.slice(4)) t.strictSame(accepted(hook.received[6]!, secret), neither, 'its day is over');
});

longTest(
  t,
  'a service killed while its receiver holds the answer makes the delivery again, and that of a test event',
  async (t) => {
    let held = true;
    const { fixture, hook } = await story(t, (_request, response) => {
      if (!held) response.writeHead(204).end();
    });
    const before = await startService(t, fixture);
    const connection = await connect(before.client);
    const subscription = await subscribe(before.client, connection, hook.url, SECRET);
    const event = await emit(before.client, connection);
    await hook.arrived(1);
    const asked = await before.client.send('POST', `/v1/subscriptions/${subscription}/test`);
    await hook.arrived(2);
    await before.kill();
    held = false;
    const after = await startService(t, fixture);
    for (const id of [event, asked.body.event_id]) {
      const done = await delivery(after.client, subscription, 'delivered', id);
      t.match(done.attempts, [{ outcome: 'abandoned' }, { outcome: 'delivered', status_code: 204 }]);
      const requests = hook.received.filter(({ headers }) => headers['x-cs-event-id'] === id);
      t.equal(done.attempts.length, requests.length, 'the log holds every request');
      t.strictSame(new Set(requests.map(({ headers }) => headers['x-cs-delivery-id'])), new Set([done.id]));
    }
    t.equal(hook.received.length, 4);
    t.match(JSON.parse(hook.received[1]!.body.toString()), { type: 'subscription.test', connection_id: connection });
    t.strictSame(accepted(hook.received[1]!, SECRET), { standard: true, stripe: true });
  },
);

longTest(t, 'a service killed between the 2xx and its commit delivers again', async (t) => {
  const { fixture, hook } = await story(t);
  const service = await startService(t, fixture);
  const connection = await connect(service.client);
  const subscription = await subscribe(service.client, connection, hook.url, SECRET);
  const lock = await fixture.db.pool.connect();
  t.teardown(() => lock.release(true));
  // The answer arrives, and what it means cannot be written.
  await lock.query(`create function hold_end() returns trigger language plpgsql as
    $$ begin perform pg_advisory_xact_lock(4711); return new; end $$`);
  await lock.query(`create trigger hold_end before update on delivery
    for each row when (new.status = 'delivered') execute function hold_end()`);
  await lock.query('select pg_advisory_lock(4711)');
  await emit(service.client, connection);
  await hook.arrived(1);
  await eventually(
    'the end of the attempt waits for the lock',
    () => lock.query(`select 1 ${WAITING}`),
    ({ rows }) => rows.length > 0,
  );
  await service.kill();
  // The dead service's own session still waits for the lock: PostgreSQL ends it as a machine's loss would.
  await lock.query(`select pg_terminate_backend(pid) ${WAITING}`);
  await lock.query('select pg_advisory_unlock(4711)');
  const after = await startService(t, fixture);
  const done = await delivery(after.client, subscription, 'delivered');
  t.match(done.attempts, [{ outcome: 'abandoned' }, { outcome: 'delivered' }]);
  t.equal(hook.received.length, 2, 'made again, under the same ids');
  t.equal(new Set(hook.received.map(({ headers }) => headers['x-cs-event-id'])).size, 1);
});
