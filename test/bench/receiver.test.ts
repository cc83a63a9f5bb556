import { createHmac } from 'node:crypto';
import t, { type Test } from 'tap';
import { Agent, request } from 'undici';
import { type Callback, startReceiver } from '../../bench/kit/receiver.js';
import { demoReceiver } from '../../server/start/demo-receiver.js';

async function receiving(t: Test) {
  const identity = await demoReceiver(t.testdir());
  const seen: Callback[] = [];
  const receiver = await startReceiver({ ...identity, port: 0, onCallback: (callback) => seen.push(callback) });
  const dispatcher = new Agent({ connect: { ca: identity.cert } });
  t.teardown(async () => {
    await dispatcher.close();
    await receiver.stop();
  });
  const send = async (timestamp: number, secret: string, body = '{"id":"e1"}') => {
    const signature = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex');
    const headers = {
      'x-cs-event-id': 'e1',
      'x-cs-delivery-id': 'd1',
      'x-cs-timestamp': String(timestamp),
      'x-cs-signature': `v1=${'0'.repeat(64)},v1=${signature}`,
    };
    const answer = await request(receiver.url, { method: 'POST', headers, body, dispatcher });
    await answer.body.dump();
    return answer.statusCode;
  };
  return { identity, seen, send };
}

t.test('a signed callback is verified over a certificate of its own', async (t) => {
  const { identity, seen, send } = await receiving(t);
  t.equal(await send(Math.floor(Date.now() / 1000), identity.secret), 204);
  t.same(seen, [{ verified: true, eventId: 'e1', deliveryId: 'd1', event: { id: 'e1' } }]);
});

t.test('a signed challenge is answered', async (t) => {
  const { identity, send } = await receiving(t);
  const challenge = JSON.stringify({ type: 'subscription.verification', challenge: 'c' });
  t.equal(await send(Math.floor(Date.now() / 1000), identity.secret, challenge), 200);
  t.equal(await send(Math.floor(Date.now() / 1000), 'another secret', challenge), 401);
});

t.test('another secret or a stale timestamp is refused', async (t) => {
  const { identity, seen, send } = await receiving(t);
  const now = Math.floor(Date.now() / 1000);
  t.equal(await send(now, 'another secret'), 401);
  t.equal(await send(now - 301, identity.secret), 401);
  t.same(
    seen.map((callback) => callback.event),
    [null, null],
  );
});
