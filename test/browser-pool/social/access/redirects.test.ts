import t from 'tap';
import { kindFailure, redirectFailure } from '../../../../browser-pool/social/access/signed-out.js';
import { socialSite } from '../../../../browser-pool/social/site/stand-in.js';

const site = socialSite({ origin: 'https://www.social.test' });
const { login, restricted, checkpoint } = site.paths;
const FROM = new URL('/feed/', site.origin);
const failureOf = (path: string, from = FROM) => redirectFailure(site, new URL(path, site.origin), from);

t.test('a redirect tells by its address what became of the session', async (t) => {
  t.match(failureOf(restricted), { code: 'provider_restricted' });
  for (const path of [login, checkpoint, `${checkpoint}/more`])
    t.match(failureOf(path), { code: 'authentication_failed' }, path);
  t.equal(failureOf('/feed/new'), null, 'an address like any other');
  t.equal(failureOf(`${checkpoint}s`), null, 'one that only begins as the checkpoint does');
  t.match(failureOf('/feed/'), { code: 'authentication_failed' }, 'to itself, which goes on for ever');
});

t.test('a redirect to another site says nothing of the session', async (t) => {
  const elsewhere = (path: string) => redirectFailure(site, new URL(path, 'https://elsewhere.test'), FROM);
  for (const path of [login, restricted, checkpoint]) t.equal(elsewhere(path), null, path);
});

t.test('so does the kind of a page that comes in place of what was asked for', async (t) => {
  for (const kind of ['login', 'challenge', 'challengeExpired'] as const)
    t.match(kindFailure(kind, false), { code: 'authentication_failed' }, kind);
  t.match(kindFailure('restricted', false), { code: 'provider_restricted' });
  t.equal(kindFailure(undefined, true), null);
});
