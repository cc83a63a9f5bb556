import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { NetworkProcess } from '../../../bench/network-process.js';
import { socialSite } from '../../../browser-pool/social/site/stand-in.js';
import { ConfigError } from '../../../server/start/config.js';
import { describedProvider } from '../../../server/start/provider-site.js';

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
