import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { NetworkProcess } from '../../../../bench/kit/network-process.js';
import type { Site } from '../../../../browser-pool/social/site/site.js';
import { socialSite } from '../../../../browser-pool/social/site/stand-in.js';
import { describedProvider } from '../../../../server/start/provider/provider-site.js';
import { ConfigError } from '../../../../server/start/settings/config.js';
import { guildSite } from '../../../fixture/guild.js';

t.test('a running network describes itself to the services that share it', async (t) => {
  const network = await NetworkProcess.start(t.testdir());
  t.teardown(() => network.stop());
  const { control_url, proxies, provider_file } = network.ready;
  const described = await describedProvider(provider_file);
  t.same(described.site, await network.site(), 'its site');
  t.match(described.network, { control_url, proxies }, 'its proxies with their passwords, and where it is steered');
});

t.test("the operator's own site brings no proxies", async (t) => {
  const file = join(t.testdir(), 'site.json');
  const site = socialSite({ origin: 'https://network.example' });
  await writeFile(file, JSON.stringify(site));
  t.same(await describedProvider(file), { site, network: null });
});

t.test('a site is described whole: a name or a word that is missing is named', async (t) => {
  const file = join(t.testdir(), 'site.json');
  const site = guildSite({});
  await writeFile(file, JSON.stringify(site));
  t.same((await describedProvider(file)).site, site);
  for (const [where, gone] of [
    ['site.endpoints.me.answer.data[1].hashId', (it: Site) => delete (it.endpoints.me.answer.data[1] as Gone).hashId],
    ['site.endpoints.profile.answer.data[1].distance[1].SELF', (it: Site) => delete wordsOf(it).SELF],
    ['site.stream.activities.message_sent', (it: Site) => delete (it.stream.activities as Gone).message_sent],
  ] as const) {
    const wrong = JSON.parse(JSON.stringify(site)) as Site; // each place on its own, as in a file
    gone(wrong);
    await writeFile(file, JSON.stringify(wrong));
    const error = await describedProvider(file).catch((reason: unknown) => reason);
    t.ok(error instanceof ConfigError);
    t.ok(String(error).includes(`(${where} wants `), `${error}`);
  }
  const without = structuredClone(site);
  delete without.endpoints.peopleSearch.parameters.service_category_id;
  await writeFile(file, JSON.stringify(without));
  t.same((await describedProvider(file)).site, without, 'a site may lack filters');
});

type Gone = Record<string, unknown>;
const wordsOf = (site: Site): Gone => site.endpoints.profile.answer.data[1].distance[1];

t.test('a description that lacks something names it and shows no value', async (t) => {
  const file = join(t.testdir(), 'provider.json');
  const wrong = { stand_in_network: { origin: 'https://network.example', ca: 'secret', spki: 1, proxies: [] } };
  await writeFile(file, JSON.stringify(wrong));
  const error = await describedProvider(file).then(
    () => undefined,
    (reason) => reason,
  );
  t.ok(error instanceof ConfigError);
  t.match(String(error), /provider\.json" \(.*stand_in_network.* wants .*\), it wants a site description/);
  t.notMatch(String(error), /secret/);
});
