import t from 'tap';
import { socialSite } from '../../../../browser-pool/social/site/stand-in.js';
import { GUILD_ORIGIN, guildSite } from '../../../fixture/guild.js';

/**
 * What is no name of a site, by where it stands: filters in `singleFacets` go by the service's names, and statuses by which a
 * request is refused are HTTP's.
 */
const NO_NAMES = [/^singleFacets\./, /^refusals\./];

/** Every text and number of a description, by where it stands. */
function leaves(value: unknown, at = ''): [at: string, leaf: unknown][] {
  if (typeof value !== 'object' || value === null) return [[at, value]];
  return Object.entries(value).flatMap(([key, one]) => leaves(one, at === '' ? key : `${at}.${key}`));
}

t.test('the stand-in and the guild have every name, and none the same', async (t) => {
  const social = new Map(leaves(socialSite({ origin: 'https://www.social.test' })));
  const guild = new Map(leaves(guildSite({})));
  const named = (one: Map<string, unknown>) =>
    [...one.keys()].filter((at) => !NO_NAMES.some((no) => no.test(at))).sort();
  t.same(named(guild), named(social));
  t.ok(named(social).length > 400, 'and there are many');
  t.same(
    named(social).filter((at) => social.get(at) === guild.get(at)),
    [],
  );
  t.equal(social.get('endpoints.profile.answer.data.1.hashId'), 'hashId');
  t.equal(guild.get('origin'), GUILD_ORIGIN);
});
