import t from 'tap';
import { capabilities } from '../../../actors/capabilities/catalogue.js';
import { HASH_ID } from '../../../actors/capabilities/example-values.js';
import { namesIn } from '../../../actors/capabilities/person-fields.js';
import * as events from '../../../server/openapi/examples/events.js';
import { eventSchema } from '../../../server/routes/subscriptions/event-json.js';

/** Who the example of each capability names: in its input, and in its result. */
const NAMED: Record<(typeof capabilities)[number]['name'], [string[], string[]]> = {
  'social.login': [[], []],
  'social.health.check': [[], ['ACoAAAda1']],
  'social.recruiter.switch': [[], []],
  'social.identity.get': [[], ['1815', 'ACoAAAda1', 'ada-lovelace']],
  'social.profile.get': [
    ['grace-hopper'],
    ['1906', HASH_ID, 'grace-hopper', 'https://www.social.test/in/grace-hopper'],
  ],
  'social.hash_ids.resolve': [
    ['grace-hopper', 'nobody'],
    [HASH_ID, 'grace-hopper', 'nobody'],
  ],
  'social.connections.list': [[], [HASH_ID, 'grace-hopper']],
  'social.company.get': [[], []],
  'social.invitations.sent.list': [[], [HASH_ID, 'grace-hopper']],
  'social.typeahead': [[], ['42']],
  'social.people.search': [[], ['1906', HASH_ID, 'grace-hopper', 'https://www.social.test/in/grace-hopper']],
  'social.jobs.search': [[], []],
  'social.recruiter.typeahead': [[], []],
  'social.recruiter.people.search': [
    [],
    ['1906', HASH_ID, 'c1', 'grace-hopper', 'https://www.social.test/in/grace-hopper'],
  ],
  'social.conversations.list': [[], [HASH_ID]],
  'social.conversations.search': [[], [HASH_ID]],
  'social.conversation.with_recipient': [[HASH_ID], [HASH_ID]],
  'social.messages.list': [[], [HASH_ID]],
  'social.message.send': [[HASH_ID], [HASH_ID]],
  'social.invitation.send': [[HASH_ID], [HASH_ID]],
  'social.attachment.send': [[], []],
  'social.file.download': [[], []],
};

t.test('of each capability the fields that name people are known, and no other text is one', async (t) => {
  t.equal(capabilities.length, Object.keys(NAMED).length);
  for (const { name, schemas, example } of capabilities) {
    const found = [namesIn(schemas, 0)(example.input), namesIn(schemas, 1)(example.result)];
    t.strictSame(
      found.map((names) => names.sort()),
      NAMED[name].map((names) => [...names].sort()),
      name,
    );
  }
});

t.test('what an example does not show', async (t) => {
  const of = (name: string, index: number) => namesIn(capabilities.find((one) => one.name === name)!.schemas, index);
  const filters = { connection_of: 'a', follower_of: 'b', first_name: 'c', company: 'd' };
  t.strictSame(of('social.people.search', 0)({ keywords: 'e', filters }).sort(), ['a', 'b']);
  const profile = { email: 'a@b', phone_numbers: ['1', '2'], headline: 'x', about: 'y', industry: 'z' };
  t.strictSame(of('social.profile.get', 1)({ profile }).sort(), ['1', '2', 'a@b']);
  const candidate = { hash_id: 'h', recruiting: { candidate_id: 'c' }, ...profile };
  const candidates = of('social.recruiter.people.search', 1)({ candidates: [candidate, candidate] });
  t.strictSame(candidates.sort(), ['1', '2', 'a@b', 'c', 'h']);
  t.strictSame(of('social.attachment.send', 0)({ recipient_actor_id: 'r', filename: 'f' }), ['r']);
  t.strictSame(of('social.message.send', 1)({ destination: { recipient_actor_id: 'r' } }), ['r']);
});

t.test('values of other shapes name nobody', async (t) => {
  for (const { schemas } of capabilities)
    for (const value of [
      null,
      undefined,
      'grace',
      7,
      [],
      [[]],
      {},
      { profile: null, people: {}, hash_ids: [], connections: 'x' },
    ])
      for (const index of [0, 1]) t.strictSame(namesIn(schemas, index)(value), []);
  t.strictSame(namesIn({ schemas: [], components: {} })({ hash_id: 'x' }), []);
});

t.test('events name who sent, who got and who accepted', async (t) => {
  const of = namesIn(eventSchema);
  t.ok(of(events.received).length > 0);
  t.strictSame(of({ data: { sender_hash_id: 'a', recipient_hash_ids: ['b'], sender_name: 'n', message_body: 'm' } }), [
    'a',
    'b',
  ]);
  t.strictSame(of({ data: { hash_id: 'a', public_id: 'b', name: 'n' } }).sort(), ['a', 'b']);
});
