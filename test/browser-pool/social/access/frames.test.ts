import type { EventSourceMessage } from 'eventsource-parser';
import t from 'tap';
import { cookieHeader, cookieValue } from '../../../../browser-pool/social/access/cookies.js';
import { readFrame } from '../../../../browser-pool/social/access/frames.js';
import { socialSite } from '../../../../browser-pool/social/site/stand-in.js';
import { guildSite } from '../../../fixture/guild.js';

const { stream } = socialSite({ origin: 'https://www.social.test' });
const frameOf = (frame: EventSourceMessage) => readFrame(frame, stream);
const guildFrame = (frame: EventSourceMessage) => readFrame(frame, guildSite({}).stream);

t.test('a known activity with unfamiliar content is unreadable, an unknown one is ignored', async (t) => {
  const activity = (data: unknown) => frameOf({ event: 'activity', data: JSON.stringify(data) });
  t.same(activity({ id: 'ev-1', type: 'message_received', payload: {} }), { type: 'unreadable' });
  t.same(frameOf({ event: 'activity', data: '{' }), { type: 'unreadable' });
  for (const strange of [null, [], {}, 'page', { kind: 'message_received' }, { type: 7 }]) {
    t.same(activity(strange), { type: 'unreadable' }, `of no kind: ${JSON.stringify(strange)}`);
  }
  const payload = { hashId: 'ACoAA', publicId: 'ada', name: 'Ada', acceptedAt: 1735689600000 };
  const accepted = { type: 'custom_connection_request_accepted', payload };
  t.match(activity({ ...accepted, id: 'ev-1' }), { type: 'event', event: { providerEventId: 'ev-1' } });
  const bare = { id: 'ev-2', type: 'message_received', payload: { conversationId: '2-a', messageUrn: 'urn:1' } };
  t.match(
    activity(bare),
    { event: { data: { message_urn: 'urn:1', message_body: null, sender_hash_id: null, recipient_hash_ids: [] } } },
    'what the site leaves out is null',
  );
  for (const id of ['', 'ev\0', 'x'.repeat(256)]) t.same(activity({ ...accepted, id }), { type: 'unreadable' });
  t.same(activity({ id: 'ev-1', type: 'birthday', payload: {} }), { type: 'ignored' });
  t.same(frameOf({ event: 'advert', data: '' }), { type: 'ignored' });
  t.same(frameOf({ data: 'without a name' }), { type: 'ignored' });
  t.same(frameOf({ event: 'goodbye', data: '' }), { type: 'goodbye', reason: 'unknown' });
});

t.test("frames are read by the site's own names, and by no other's", async (t) => {
  const details = { key: 'ACoAA', handle: 'ada', label: 'Ada', agreed_at: 1735689600000 };
  const agreed = (changes = {}) =>
    guildFrame({ event: 'news', data: JSON.stringify({ uid: 'ev-1', sort: 'request_agreed', details, ...changes }) });
  t.same(agreed(), {
    type: 'event',
    event: {
      providerEventId: 'ev-1',
      type: 'custom_connection_request_accepted',
      data: { hash_id: 'ACoAA', public_id: 'ada', name: 'Ada', accepted_at: 1735689600000 },
    },
  });
  t.same(agreed({ sort: 'custom_connection_request_accepted' }), { type: 'ignored' });
  t.same(agreed({ details: { hashId: 'ACoAA', publicId: 'ada', name: 'Ada', acceptedAt: 1735689600000 } }), {
    type: 'unreadable',
  });
  t.same(guildFrame({ event: 'tick', data: '' }), { type: 'heartbeat' });
  t.same(guildFrame({ event: 'heartbeat', data: '' }), { type: 'ignored' });
  t.same(guildFrame({ event: 'close', data: '{"cause":"restart"}' }), { type: 'goodbye', reason: 'restart' });
});

t.test('a stream sends the cookies a browser would send', async (t) => {
  const cookie = { value: 'v', path: '/', expires: -1, secure: true, httpOnly: true, sameSite: 'Lax' };
  const session = JSON.stringify({
    cookies: [
      { ...cookie, name: 'below', domain: '.social.test' },
      { ...cookie, name: 'exact', domain: 'www.social.test' },
      { ...cookie, name: 'elsewhere', domain: '.example.com' },
      { ...cookie, name: 'lookalike', domain: '.al.test' },
      { ...cookie, name: 'expired', domain: '.social.test', expires: 1 },
      { ...cookie, name: 'folder', domain: '.social.test', path: '/admin' },
    ],
    origins: [],
  });
  const address = new URL('https://www.social.test/realtime');
  t.equal(cookieHeader(session, address), 'below=v; exact=v');
  t.equal(cookieHeader(session, new URL('http://www.social.test/')), '');
  t.equal(cookieValue(session, address, 'exact'), 'v');
  t.equal(cookieValue(session, address, 'expired'), undefined);
});
