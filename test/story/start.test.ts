import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import t from 'tap';
import { failedStart, serviceFixture, startService } from '../fixture/service.js';

/** One line that names what is wrong, and nothing else. */
function oneLine(text: string): string {
  const lines = text.trim().split('\n');
  return lines.length === 1 ? (lines[0] ?? '') : `${lines.length} lines: ${text}`;
}

t.test('a bad setting stops the start with one line that names it', async (t) => {
  const { status, stderr } = await failedStart({ PORT: 'eighty', DATA_DIR: '/tmp' });
  t.equal(status, 2);
  t.match(oneLine(stderr), /^PORT has "eighty", it wants/);
});

t.test('a port in use stops the start with one line', async (t) => {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  t.teardown(() => taken.close());
  const address = taken.address();
  const port = String(typeof address === 'object' && address ? address.port : 0);
  const fixture = await serviceFixture(t, { PORT: port });
  const { status, stderr } = await failedStart(fixture.env);
  t.equal(status, 1);
  t.match(oneLine(stderr), new RegExp(`${port}.*in use`));
});

t.test('a database that does not answer stops the start with one line', async (t) => {
  const fixture = await serviceFixture(t, { DATABASE_URL: 'postgres://nobody:secret@127.0.0.1:9/none' });
  const { status, stderr } = await failedStart(fixture.env);
  t.equal(status, 1);
  t.match(oneLine(stderr), /^DATABASE_URL: the database does not answer/);
  t.notMatch(stderr, 'secret');
});

t.test('without a browser the service serves, and says what social operations lack', async (t) => {
  const fixture = await serviceFixture(t, { PATH: '/nowhere', LOG_LEVEL: 'warn' });
  const service = await startService(t, fixture);
  t.match(service.stderr(), /no browser/i);
  const simulated = await service.client.connect({
    provider: 'simulated',
    external_actor: { kind: 'person', id: 'ada' },
  });
  t.match(await service.client.run(simulated, 'social.identity.get'), { status: 'succeeded' });
  const social = await service.client.connect({
    provider: 'social',
    username: 'ada',
    password: 'sandbox',
    region: 'US',
  });
  t.match(await service.client.run(social, 'social.login'), {
    status: 'failed',
    error_code: 'browser_unavailable',
    error_details: { retryable: true },
  });
});

t.test('a site description that is none stops the start with one line', async (t) => {
  const fixture = await serviceFixture(t);
  const file = `${fixture.dataDir}/site.json`;
  await writeFile(file, '{"origin":"https://www.example.test"}');
  const { status, stderr } = await failedStart({ ...fixture.env, PROVIDER: file });
  t.equal(status, 2);
  t.match(oneLine(stderr), /^PROVIDER has ".*site\.json" \(.* wants .*\), it wants a site description/);
});

t.test(
  'a node without the keys of the installation serves, and accepts nothing that it could not tell from a repeat',
  async (t) => {
    const fixture = await serviceFixture(t, { BROWSER_PATH: '/bin/false', LOG_LEVEL: 'warn' });
    const first = await startService(t, fixture);
    const connection = await first.client.connect({
      provider: 'simulated',
      external_actor: { kind: 'person', id: 'ada' },
    });
    t.match(await first.client.run(connection, 'social.identity.get'), { status: 'succeeded' });
    t.equal(await first.stop(), 0);

    const { ENCRYPTION_KEYS: _, ...keyless } = fixture.env;
    const second = await startService(t, { ...fixture, env: keyless });
    t.match(second.stderr(), 'installation.fingerprint_secret_sealed');
    t.match(await second.client.send('GET', `/v1/connections/${connection}`), { status: 200 });
    t.match(await second.client.submit(connection, 'social.identity.get'), {
      status: 503,
      body: { code: 'encryption_key_unavailable' },
    });
    t.equal(await second.stop(), 0);
  },
);
