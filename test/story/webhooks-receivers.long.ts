import t from 'tap';
import { receiver } from '../fixture/https-receiver.js';
import { serviceFixture, startService } from '../fixture/service.js';
import { attempts, connect, emit, subscribe, trusting } from '../fixture/webhooks.js';
import { ANSWERS, BELOW, certificates, onLoopback } from './misbehaving-receivers.js';

t.test('whatever a receiver does, the log names it, its slot is free again, and a healthy one goes on', async (t) => {
  const names = [...Object.keys(ANSWERS), ...Object.keys(BELOW)];
  const stalling = [...Object.values(ANSWERS), ...Object.values(BELOW)].filter(
    ({ expected }) => expected.error === 'timeout',
  ).length;
  const fixture = await serviceFixture(t, {
    ...(await trusting(t, certificates.ca)),
    CALLBACK_ALLOWED_NETWORKS: '127.0.0.1/32',
    ACTOR_THREADS: '1',
    // More than those that stall can hold, also of the half that receivers share which are not known to answer.
    DELIVERY_CONCURRENCY: String(3 * stalling),
    DELIVERY_WORKSPACE_PERCENT: '100',
  });
  const { client } = await startService(t, fixture);
  /** The end of the connection that each first attempt was made on. */
  const sockets = new Map<string, Promise<void>>();
  const hook = await receiver(t, onLoopback, (request, response, socket) => {
    const name = decodeURIComponent(request.path.slice(1));
    if (!sockets.has(name)) sockets.set(name, new Promise<void>((resolve) => socket.once('close', () => resolve())));
    ANSWERS[name]?.answer(request, response, socket);
  });
  const troubled = await connect(client);
  const subscriptions = new Map<string, string>();
  for (const name of names) {
    const port = (await BELOW[name]?.port(t)) ?? hook.port;
    subscriptions.set(name, await subscribe(client, troubled, `https://127.0.0.1:${port}/${encodeURIComponent(name)}`));
  }
  const healthy = await receiver(t, onLoopback);
  const sound = await connect(client);
  await subscribe(client, sound, healthy.url);

  await emit(client, troubled);
  let over = false;
  const first = Promise.all(names.map((name) => attempts(client, subscriptions.get(name) as string))).finally(() => {
    over = true;
  });
  let arrived = 0;
  while (!over) {
    await emit(client, sound);
    await healthy.arrived(++arrived);
  }
  const logs = await first;
  for (const [i, name] of names.entries()) {
    const { expected } = (ANSWERS[name] ?? BELOW[name])!;
    const attempt = logs[i]![0]!;
    t.match(attempt, expected, `a receiver that ${name}`);
    if (expected.error === 'timeout') await sockets.get(name);
  }
  t.ok(arrived > 1, `${arrived} came while others stalled`);
});
