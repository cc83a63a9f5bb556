import t from 'tap';
import { receiver } from '../fixture/https-receiver.js';
import { serviceFixture, startService } from '../fixture/service.js';
import { attempts, connect, emit, subscribe, trusting } from '../fixture/webhooks.js';
import { certificates, onLoopback } from './misbehaving-receivers.js';

t.test(
  'the settings of callbacks hold in the service: bounds on every node, and addresses that prove themselves',
  async (t) => {
    const fixture = await serviceFixture(t, {
      ...(await trusting(t, certificates.ca)),
      CALLBACK_ALLOWED_NETWORKS: '127.0.0.1/32',
      CALLBACK_VERIFICATION: 'required',
      WORKSPACE_SUBSCRIPTIONS: '3',
      ACTOR_THREADS: '1',
    });
    const [one, other] = await Promise.all([startService(t, fixture), startService(t, fixture)]);
    const hook = await receiver(t, onLoopback, ({ body }, response) => {
      const { challenge } = JSON.parse(body.toString()) as { challenge?: string };
      response.writeHead(200).end(challenge);
    });
    const mute = await receiver(t, onLoopback);
    const connection = await connect(one.client);
    const proven = await subscribe(one.client, connection, hook.url);
    const unproven = await subscribe(other.client, connection, mute.url);
    await subscribe(other.client, connection, hook.url);
    for (const { client } of [one, other])
      t.match(
        await client.send('POST', `/v1/connections/${connection}/subscriptions`, {
          event_types: ['message_received'],
          callback_url: hook.url,
        }),
        { status: 409, body: { code: 'too_many_subscriptions' } },
      );
    await emit(one.client, connection);
    t.match(await attempts(one.client, proven), [{ outcome: 'delivered' }]);
    t.match(await other.client.send('GET', `/v1/subscriptions/${unproven}`), {
      body: { active: false, verified: false, paused: null },
    });
    t.equal(mute.received.length, 1, 'the challenge, and nothing else');
    t.match(await one.client.send('PATCH', `/v1/subscriptions/${unproven}`, { active: true }), {
      status: 409,
      body: { code: 'callback_not_verified' },
    });
  },
);
