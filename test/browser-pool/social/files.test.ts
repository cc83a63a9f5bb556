import t from 'tap';
import { Account } from '../account.js';
import { poolGround } from '../ground.js';

const SAMPLE = { url: 'https://files.social.test/samples/4.bin' };

t.test('reading files without a browser', async (t) => {
  const { network, line, hasty } = await poolGround(t);
  const account = new Account(network, 'ada');
  await account.login(line);
  const download = (changes = {}, asked = line) => account.run(asked, 'social.file.download', SAMPLE, changes);

  t.test('the bytes come whole', async (t) => {
    t.strictSame((await download().expect('result')).result, {
      content_type: 'application/octet-stream',
      data_base64: 'AAECAw==',
      size: 4,
    });
  });

  t.test('it goes through the pinned proxy or not at all', async (t) => {
    const refused = await download({ proxy: { ...network.proxy, password: 'wrong' } }).expect('failure');
    t.match(refused, { code: 'proxy_error', details: { reason: 'refused' }, transient: false });
    const gone = await download({ proxy: { id: 'gone', server: 'http://127.0.0.1:1' } }).expect('failure');
    t.match(gone, { code: 'proxy_error', details: { reason: 'unreachable' }, transient: true });
  });

  for (const [mode, code] of [
    ['hang', 'upstream_timeout'],
    ['drop_before_commit', 'upstream_error'],
  ] as const) {
    t.test(`${mode} is ${code}, worth another try`, async (t) => {
      await network.fault({ capability: 'social.file.download', mode, times: 1 });
      const asked = mode === 'hang' ? hasty() : line;
      t.match(await download({}, asked).expect('failure'), { code, transient: true });
      await download().expect('result');
    });
  }

  t.test('a cancel ends it at once', async (t) => {
    await network.fault({ capability: 'social.file.download', mode: 'hang', times: 1 });
    const run = download();
    while ((await network.faults()).length > 0);
    run.cancel();
    t.match(await run.expect('failure'), { code: 'canceled' });
  });

  t.test('an address outside the provider is not asked', async (t) => {
    for (const url of [
      'https://social.test.example.com/a',
      'https://notsocial.test/a',
      'http://files.social.test/a',
      'https://files.social.test:8443/a',
      'https://user@files.social.test/a',
    ]) {
      const failure = await account.run(line, 'social.file.download', { url }).expect('failure');
      t.match(failure, { code: 'validation_error', details: { reason: 'not_an_address_of_the_provider' } }, url);
    }
  });

  t.test('the sign-in page is no file', async (t) => {
    await network.account({ username: 'ada', end_sessions: true });
    t.match(await download().expect('failure'), {
      code: 'authentication_failed',
      effects: { health: 'needs_login' },
    });
  });
});
