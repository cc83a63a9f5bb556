import t from 'tap';
import { control, startedNetwork } from './fixture.js';
import { type Frame, listening } from './listening.js';
import { type ConversationRow, signedIn } from './visitor.js';

type Emitted = { event_id: string; delivered: boolean };

t.test('the event stream', async (t) => {
  const network = await startedNetwork(t);
  const steer = (account: string, action: string, more: object = {}) =>
    control<Emitted>(network, 'POST', '/stream', { account, action, ...more });

  t.test('it greets, keeps giving signs of life and sends what happens', async (t) => {
    const visitor = await signedIn(t, network, 'listener.one');
    const stream = await listening(t, visitor);
    t.equal((await stream.next()).event, 'connected');
    const emitted = await steer('listener.one', 'emit', { type: 'message_received', data: { body: 'Are you there?' } });
    t.equal(emitted.delivered, true);
    const frame = await stream.next();
    t.match(frame, {
      id: emitted.event_id,
      event: 'activity',
      data: { id: emitted.event_id, type: 'message_received', payload: { body: 'Are you there?' } },
    });
    t.equal((await stream.next()).event, 'heartbeat');
  });

  t.test('a received message stands in the conversation its frame names', async (t) => {
    const visitor = await signedIn(t, network, 'listener.two');
    const emitted = await steer('listener.two', 'emit', { type: 'message_received', data: { body: 'Nobody listens' } });
    t.equal(emitted.delivered, false);
    const [row] = (await visitor.list<ConversationRow>('/api/conversations?count=1')).data;
    t.match(row, { lastMessage: { body: 'Nobody listens' } });
    t.not(row?.unreadCount, 0);
  });

  t.test('own sends come back, and reach the other side', async (t) => {
    const sender = await signedIn(t, network, 'listener.three');
    const receiver = await signedIn(t, network, 'listener.four', 'FR');
    const account = await control<{ hash_id: string }>(network, 'POST', '/accounts', { username: 'listener.four' });
    const [own, other] = [await listening(t, sender), await listening(t, receiver)];
    await sender.api('/api/messages', { recipientHashId: account.hash_id, body: 'Across the border' });
    t.match(await activity(own), { type: 'message_sent', payload: { body: 'Across the border' } });
    t.match(await activity(other), { type: 'message_received', payload: { body: 'Across the border' } });
  });

  t.test('the same activity can be sent twice under one id', async (t) => {
    const stream = await listening(t, await signedIn(t, network, 'listener.five'));
    const type = 'custom_connection_request_accepted';
    await steer('listener.five', 'emit', { type, event_id: 'ev-once' });
    await steer('listener.five', 'emit', { type, event_id: 'ev-once' });
    const [first, second] = [await activity(stream), await activity(stream)];
    t.match(first, { id: 'ev-once', type });
    t.same(first, second);
  });

  t.test('a dropped stream closes and none opens until it is resumed', async (t) => {
    const visitor = await signedIn(t, network, 'listener.six');
    const stream = await listening(t, visitor);
    await steer('listener.six', 'drop');
    await t.rejects(stream.rest());
    t.match(await visitor.api('/realtime'), { status: 503, body: { error: { code: 'stream_unavailable' } } });
    await steer('listener.six', 'resume');
    t.equal((await (await listening(t, visitor)).next()).event, 'connected');
  });

  t.test('a silenced stream stays open and says nothing until it is resumed', async (t) => {
    const stream = await listening(t, await signedIn(t, network, 'listener.seven'));
    t.equal((await stream.next()).event, 'connected');
    await steer('listener.seven', 'silence');
    t.equal((await steer('listener.seven', 'emit', { type: 'message_received' })).delivered, false);
    await steer('listener.seven', 'resume');
    await steer('listener.seven', 'emit', { type: 'sponsored_inmail_received' });
    t.match(await activity(stream), { type: 'sponsored_inmail_received' }, 'nothing of what came before');
  });

  t.test('it says goodbye when the session ends', async (t) => {
    const visitor = await signedIn(t, network, 'listener.eight');
    const stream = await listening(t, visitor);
    await visitor.page('/logout', {});
    const frames = await stream.rest();
    t.match(frames.at(-1), { event: 'goodbye', data: { reason: 'session_ended' } });
    t.equal((await visitor.api('/realtime')).status, 401);
  });
});

/** The data of the next activity; what comes before it on the stream is skipped. */
async function activity(stream: { next(): Promise<Frame> }): Promise<Frame['data']> {
  let frame = await stream.next();
  while (frame.event !== 'activity') frame = await stream.next();
  return frame.data;
}
