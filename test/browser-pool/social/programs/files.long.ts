import t, { type Test } from 'tap';
import { LIMITS } from '../../../../browser-pool/limits.js';
import { SITES } from '../../../fixture/network.js';
import { Account } from '../../account.js';
import { poolFixture } from '../../fixture.js';

const HOSTS = {
  social: { files: 'files.social.test', domain: 'social.test' },
  guild: { files: 'media.guild.test', domain: 'guild.test' },
};

for (const name of SITES) {
  t.test(`reading files without a browser, on ${name}`, async (t) => {
    const { network, channel, shortTimeouts } = await poolFixture(t, {}, name);
    const { files, domain } = HOSTS[name];
    const SAMPLE = { url: `https://${files}/samples/4.bin` };
    const account = new Account(network, 'ada');
    await account.login(channel);
    const download = (changes = {}, asked = channel) => account.run(asked, 'social.file.download', SAMPLE, changes);
    const SAMPLE_RESULT = { content_type: 'application/octet-stream', size: 4 };
    const whole = async (t: Test) => {
      const run = download();
      t.same([...new Uint8Array((await run.expect('file')).bytes)], [0, 1, 2, 3]);
      run.stored();
      t.strictSame((await run.expect('result')).result, SAMPLE_RESULT);
    };

    t.test('the bytes come whole', whole);

    t.test('a file comes in parts that join, each when the one before is stored', async (t) => {
      const size = 2 * LIMITS.file_part_bytes + 5;
      const run = account.run(channel, 'social.file.download', { url: `https://${files}/samples/${size}.bin` });
      t.equal(LIMITS.file_part_bytes % 3, 0);
      const parts: Buffer[] = [];
      for (const bytes of [LIMITS.file_part_bytes, LIMITS.file_part_bytes, 5]) {
        const part = Buffer.from((await run.expect('file')).bytes);
        t.equal(part.length, bytes);
        parts.push(part);
        await channel.stats(() => true); // the host went on meanwhile
        t.ok(run.silent, 'nothing more before it is stored');
        run.stored();
      }
      t.match(await run.expect('result'), { result: { size } });
      t.ok(Buffer.concat(parts).equals(Buffer.from(Array.from({ length: size }, (_, i) => i % 251))));
    });

    t.test('a part that is never stored keeps nobody: a cancel ends it', async (t) => {
      const run = download();
      await run.expect('file');
      run.cancel();
      t.match(await run.expect('failure'), { code: 'canceled' });
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
        const asked = mode === 'hang' ? shortTimeouts() : channel;
        t.match(await download({}, asked).expect('failure'), { code, transient: true });
        await whole(t);
      });
    }

    t.test('a cancel ends it at once', async (t) => {
      await network.fault({ capability: 'social.file.download', mode: 'hang', times: 1 });
      const run = download();
      await network.faultsSpent();
      run.cancel();
      t.match(await run.expect('failure'), { code: 'canceled' });
    });

    t.test('an address outside the provider is not asked', async (t) => {
      for (const url of [
        `https://${domain}.example.com/a`,
        `https://not${domain}/a`,
        `http://${files}/a`,
        `https://${files}:8443/a`,
        `https://user@${files}/a`,
      ]) {
        const failure = await account.run(channel, 'social.file.download', { url }).expect('failure');
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
}
