import t from 'tap';
import { LIMITS } from '../../../../browser-pool/limits.js';
import type { ProxyTarget } from '../../../../browser-pool/messages.js';
import type { StreamFrame } from '../../../../browser-pool/social/access/frames.js';
import { StreamClient, type StreamEnd } from '../../../../browser-pool/social/access/stream.js';
import { Network, SITES } from '../../../fixture/network.js';
import { longTest } from '../../../fixture/size.js';
import { Account } from '../../account.js';
import { Pool } from '../../pool.js';

/** A stream as its owner hears it. */
class Heard {
  readonly ended: Promise<StreamEnd>;
  /** Holds the stream up behind the next frame, until it settles. */
  held: Promise<void> | undefined;
  #abort = new AbortController();
  #frames: StreamFrame[] = [];
  #waiting: { type: StreamFrame['type']; resolve: (frame: StreamFrame) => void } | undefined;

  constructor(client: StreamClient, session: string, proxy: ProxyTarget) {
    this.ended = new Promise((resolve) => {
      client.open({
        session,
        proxy,
        signal: this.#abort.signal,
        onFrame: (frame) => {
          this.#take(frame);
          return this.held;
        },
        onEnd: resolve,
      });
    });
  }

  /** The next frame of this type; others before it are passed over. */
  next<Type extends StreamFrame['type']>(type: Type): Promise<Extract<StreamFrame, { type: Type }>> {
    return new Promise((resolve) => {
      this.#waiting = { type, resolve: (frame) => resolve(frame as Extract<StreamFrame, { type: Type }>) };
      for (const frame of this.#frames.splice(0)) this.#take(frame);
    });
  }

  abort(): void {
    this.#abort.abort();
  }

  #take(frame: StreamFrame): void {
    const waiting = this.#waiting;
    if (!waiting) this.#frames.push(frame);
    else if (waiting.type === frame.type) {
      this.#waiting = undefined;
      waiting.resolve(frame);
    }
  }
}

for (const name of SITES) {
  t.test(`event streams, on ${name}`, async (t) => {
    const network = await Network.start(name);
    t.teardown(() => network.close());
    const client = new StreamClient(network.site);
    t.teardown(() => client.close());
    const account = new Account(network, 'ada');
    const pool = new Pool(network.site);
    await account.login(pool.channel);
    await pool.close();
    const session = account.session ?? '';

    t.test('frames of a live session become events, one id an event', async (t) => {
      const heard = new Heard(client, session, network.proxy);
      await heard.next('connected');
      await network.stream({ account: 'ada', action: 'emit', type: 'message_received', data: { body: 'Hi' } });
      const { event } = await heard.next('event');
      t.match(event, {
        providerEventId: /./,
        type: 'message_received',
        data: {
          conversation_id: /^2-/,
          message_urn: /^urn:/,
          message_body: 'Hi',
          sender_hash_id: /^ACoAA/,
          delivered_at: Number,
        },
      });
      for (const type of ['sponsored_inmail_received', 'custom_connection_request_accepted'] as const) {
        await network.stream({ account: 'ada', action: 'emit', type });
        t.equal((await heard.next('event')).event.type, type);
      }
      await heard.next('heartbeat');
      heard.abort();
      t.same(await heard.ended, { reason: 'aborted' });
    });

    t.test('a frame that is larger than any ends the stream, and nothing of it is held', async (t) => {
      const heard = new Heard(client, session, network.proxy);
      await heard.next('connected');
      const data = { body: 'x'.repeat(1.5 * LIMITS.stream_frame_characters) };
      await network.stream({ account: 'ada', action: 'emit', type: 'message_received', data });
      t.same(await heard.ended, { reason: 'malformed' });
    });

    longTest(t, 'a frame that holds the stream up is the last one until it is done with', async (t) => {
      const [heard, beside] = [0, 1].map(() => new Heard(client, session, network.proxy)) as [Heard, Heard];
      await Promise.all([heard.next('connected'), beside.next('connected')]);
      const emit = () => network.stream({ account: 'ada', action: 'emit', type: 'message_received' });
      const done = Promise.withResolvers<void>();
      heard.held = done.promise;
      await Promise.all([emit(), heard.next('event'), beside.next('event')]);
      let arrived = false;
      const second = heard.next('event').then(() => {
        arrived = true;
      });
      await Promise.all([emit(), beside.next('event')]);
      await beside.next('heartbeat'); // long after the event has come to the one beside it
      t.notOk(arrived);
      heard.held = undefined;
      done.resolve();
      await second;
      for (const one of [heard, beside]) {
        one.abort();
        await one.ended;
      }
    });

    longTest(t, 'a stream the provider drops ends, and the next one is refused', async (t) => {
      const heard = new Heard(client, session, network.proxy);
      await heard.next('connected');
      await network.stream({ account: 'ada', action: 'drop' });
      t.match((await heard.ended).reason, /closed|connection_lost/);
      t.same(await new Heard(client, session, network.proxy).ended, { reason: 'refused', status: 503 });
      await network.stream({ account: 'ada', action: 'resume' });
      const again = new Heard(client, session, network.proxy);
      await again.next('connected');
      again.abort();
      await again.ended;
    });

    longTest(t, 'trouble with the proxy is told apart', async (t) => {
      const refusing = { ...network.proxy, password: 'wrong' };
      t.same(await new Heard(client, session, refusing).ended, { reason: 'proxy' });
      t.same(await new Heard(client, session, { id: 'gone', server: 'http://127.0.0.1:9' }).ended, { reason: 'proxy' });
    });

    t.test('a session that ends says goodbye, and is logged out from then on', async (t) => {
      const heard = new Heard(client, session, network.proxy);
      await heard.next('connected');
      const goodbye = heard.next('goodbye');
      await network.account({ username: 'ada', end_sessions: true });
      t.same(await goodbye, { type: 'goodbye', reason: 'session_ended' });
      await heard.ended;
      t.same(await new Heard(client, session, network.proxy).ended, { reason: 'logged_out' });
    });
  });
}
