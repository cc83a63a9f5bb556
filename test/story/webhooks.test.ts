import { Webhook } from 'standardwebhooks';
import Stripe from 'stripe';
import t, { type Test } from 'tap';
import type { Client } from '../fixture/client.js';
import { type Answer, authority, type Received, type Receiver, receiver } from '../fixture/https-receiver.js';
import { type ServiceFixture, serviceFixture, startService } from '../fixture/service.js';
import { connect, emit, subscribe, trusting } from '../fixture/webhooks.js';

const SECRET = 'a secret of more than 32 characters';
const certificates = await authority();
const onLoopback = await certificates.issue({ ip: '127.0.0.1' });

interface Story {
  ground: ServiceFixture;
  hook: Receiver;
}

async function story(t: Test, answer?: Answer): Promise<Story> {
  const hook = await receiver(t, onLoopback, answer);
  const env = { ...(await trusting(t, certificates.ca)), CALLBACK_ALLOWED_NETWORKS: '127.0.0.1/32' };
  return { ground: await serviceFixture(t, env), hook };
}

interface Delivery {
  id: string;
  status: string;
  attempts: { outcome: string; status_code: number | null; started_at: string; completed_at: string | null }[];
}

/** The subscription's only delivery, once it has this status. */
async function delivery(client: Client, subscription: string, status: string): Promise<Delivery> {
  for (;;) {
    const { body } = await client.send('GET', `/v1/subscriptions/${subscription}/deliveries`);
    const [only] = body.deliveries as { id: string; status: string }[];
    if (only?.status === status) {
      return (await client.send('GET', `/v1/deliveries/${only.id}`)).body as unknown as Delivery;
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** What `/metrics` tells, once the threads have told it this. */
async function metrics(url: string, wanted: RegExp): Promise<string> {
  for (;;) {
    const text = await (await fetch(`${url}/metrics`)).text();
    if (wanted.test(text)) return text;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

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

t.test('stock verifiers accept the callbacks, with either secret while a rotation overlaps', async (t) => {
  const { ground, hook } = await story(t);
  const { client } = await startService(t, ground);
  const connection = await connect(client);
  const subscription = await subscribe(client, connection, hook.url, SECRET);
  const both = { standard: true, stripe: true };
  const neither = { standard: false, stripe: false };
  await emit(client, connection);
  await hook.arrived(1);
  t.strictSame(accepted(hook.received[0]!, SECRET), both);
  t.strictSame(accepted(hook.received[0]!, 'another secret of more than 32 characters'), neither);

  const rotated = await client.send('POST', `/v1/subscriptions/${subscription}/rotate-secret`);
  const secret = String(rotated.body.secret);
  await emit(client, connection);
  await hook.arrived(2);
  t.strictSame(accepted(hook.received[1]!, SECRET), both, 'the receiver that has the old one');
  t.strictSame(accepted(hook.received[1]!, secret), both, 'the receiver that has the new one');

  await ground.db.query('testOverlap', 'update subscription set previous_valid_until = now() where id = $1', [
    subscription,
  ]);
  await emit(client, connection);
  await hook.arrived(3);
  t.strictSame(accepted(hook.received[2]!, SECRET), neither);
  t.strictSame(accepted(hook.received[2]!, secret), both);
});

t.test('the first two waits are 1 and 5 seconds of the real clock', async (t) => {
  const at: number[] = [];
  const { ground, hook } = await story(t, (_request, response) => {
    at.push(performance.now());
    response.writeHead(at.length < 3 ? 503 : 204).end();
  });
  const { client, metricsUrl } = await startService(t, ground);
  const connection = await connect(client);
  const subscription = await subscribe(client, connection, hook.url, SECRET);
  await emit(client, connection);
  const done = await delivery(client, subscription, 'delivered');
  const waits = [at[1]! - at[0]!, at[2]! - at[1]!];
  t.ok(waits[0]! >= 1000 && waits[1]! >= 5000, `${waits.map(Math.round)} ms`);
  t.match(done.attempts, [{ status_code: 503 }, { status_code: 503 }, { status_code: 204, outcome: 'delivered' }]);
  const told = await metrics(metricsUrl, /^delivery_latency_seconds_count 1$/m);
  t.match(told, /^delivery_attempts_total\{outcome="failed",error="status"\} 2$/m, 'an operator sees what happened');
  t.match(told, /^delivery_attempts_total\{outcome="delivered",error="none"\} 1$/m);
  t.match(told, /^delivery_latency_seconds_bucket\{le="5"\} 0$/m, 'the waits are part of the latency');
});

t.test('a service killed while its receiver holds the answer makes the delivery again', async (t) => {
  let held = true;
  const { ground, hook } = await story(t, (_request, response) => {
    if (!held) response.writeHead(204).end();
  });
  const before = await startService(t, ground);
  const connection = await connect(before.client);
  const subscription = await subscribe(before.client, connection, hook.url, SECRET);
  const event = await emit(before.client, connection);
  await hook.arrived(1);
  await before.kill();
  held = false;
  const after = await startService(t, ground);
  const done = await delivery(after.client, subscription, 'delivered');
  t.match(done.attempts, [{ outcome: 'abandoned' }, { outcome: 'delivered', status_code: 204 }]);
  t.equal(done.attempts.length, hook.received.length, 'the log tells of every request');
  t.ok(hook.received.every(({ headers }) => headers['x-cs-event-id'] === event));
  t.equal(new Set(hook.received.map(({ headers }) => headers['x-cs-delivery-id'])).size, 1);
});

t.test('a service killed between the 2xx and its commit delivers again', async (t) => {
  const { ground, hook } = await story(t);
  const service = await startService(t, ground);
  const connection = await connect(service.client);
  const subscription = await subscribe(service.client, connection, hook.url, SECRET);
  const lock = await ground.db.pool.connect();
  t.teardown(() => lock.release(true));
  // The answer arrives, and what it means cannot be written.
  await lock.query(`create function hold_end() returns trigger language plpgsql as
    $$ begin perform pg_advisory_xact_lock(4711); return new; end $$`);
  await lock.query(`create trigger hold_end before update on delivery
    for each row when (new.status = 'delivered') execute function hold_end()`);
  await lock.query('select pg_advisory_lock(4711)');
  await emit(service.client, connection);
  await hook.arrived(1);
  for (;;) {
    const { rows } = await lock.query(
      `select 1 from pg_locks where locktype = 'advisory' and objid = 4711 and not granted`,
    );
    if (rows.length > 0) break;
  }
  await service.kill();
  // The dead service's own session still waits for the lock: PostgreSQL ends it as a machine's loss would.
  await lock.query(`select pg_terminate_backend(pid) from pg_locks where objid = 4711 and not granted`);
  await lock.query('select pg_advisory_unlock(4711)');
  const after = await startService(t, ground);
  const done = await delivery(after.client, subscription, 'delivered');
  t.match(done.attempts, [{ outcome: 'abandoned' }, { outcome: 'delivered' }]);
  t.equal(hook.received.length, 2, 'made again, under the same ids');
  t.equal(new Set(hook.received.map(({ headers }) => headers['x-cs-event-id'])).size, 1);
});
