import t from 'tap';
import { capabilities, capabilityNamed } from '../../../actors/capabilities/catalogue.js';
import { LOOK_PROGRAM } from '../../../browser-pool/contract/look.js';
import { socialPrograms } from '../../../browser-pool/social/programs/index.js';
import { socialSite } from '../../../browser-pool/social/site/stand-in.js';

const names = (kept: (capability: (typeof capabilities)[number]) => boolean) =>
  capabilities.filter(kept).map(({ name }) => name);

t.test('there are 22 capabilities, and these are their names', async (t) => {
  t.strictSame(
    names(() => true),
    [
      'social.login',
      'social.health.check',
      'social.recruiter.switch',
      'social.identity.get',
      'social.profile.get',
      'social.hash_ids.resolve',
      'social.connections.list',
      'social.company.get',
      'social.invitations.sent.list',
      'social.typeahead',
      'social.people.search',
      'social.jobs.search',
      'social.recruiter.typeahead',
      'social.recruiter.people.search',
      'social.conversations.list',
      'social.conversations.search',
      'social.conversation.with_recipient',
      'social.messages.list',
      'social.message.send',
      'social.invitation.send',
      'social.attachment.send',
      'social.file.download',
    ],
  );
});

t.test('a capability is found by its full name only', async (t) => {
  t.equal(capabilityNamed('social.login')?.name, 'social.login');
  for (const name of ['login', 'social.Login', '', 'constructor', '__proto__'])
    t.equal(capabilityNamed(name), undefined);
});

t.test('every capability has the page program of its name, and there is no other program but the look', async (t) => {
  const programs = socialPrograms(socialSite({ origin: 'https://www.social.test' }));
  t.strictSame([...programs.keys()].sort(), [...names(() => true), LOOK_PROGRAM].sort());
});

t.test('what a write can be looked for by is told by every write, and by nothing else', async (t) => {
  t.strictSame(
    names(({ sought }) => sought !== undefined),
    names(({ kind }) => kind === 'write'),
  );
});

t.test('exactly the three sends write, need social:send and are stored sealed', async (t) => {
  const sends = ['social.message.send', 'social.invitation.send', 'social.attachment.send'];
  t.strictSame(
    names(({ send }) => send),
    sends,
  );
  t.strictSame(
    names(({ kind }) => kind === 'write'),
    sends,
  );
  t.strictSame(
    names(({ sealed }) => sealed),
    sends,
  );
});

t.test('login alone needs nothing, and the two recruiter reads need the recruiter', async (t) => {
  t.strictSame(
    names(({ needs }) => needs === 'nothing'),
    ['social.login'],
  );
  t.strictSame(
    names(({ needs }) => needs === 'recruiter'),
    ['social.recruiter.typeahead', 'social.recruiter.people.search'],
  );
});
