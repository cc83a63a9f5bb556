import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright';
import t from 'tap';
import { findBrowser } from '../../../browser-pool/chromium/find-browser.js';
import { LIMITS } from '../../../browser-pool/limits.js';
import { Artifacts } from '../../../browser-pool/runs/artifacts.js';
import { createLogger } from '../../../storage/log/log.js';
import { eventually } from '../../fixture/eventually.js';
import { Network } from '../../fixture/network.js';
import { longTest } from '../../fixture/size.js';
import { Account } from '../account.js';
import { Pool } from '../pool.js';
import { unzipped } from '../unzip.js';

const PASSWORD = 'Tr0ub4dor-and-3-staples';
const CODE = '731946';

longTest(t, 'a screenshot does not depend on what stands in the fields', async (t) => {
  const browser = await chromium.launch({ executablePath: findBrowser() ?? '', args: ['--no-sandbox'] });
  t.teardown(() => browser.close());
  const folder = mkdtempSync(join(tmpdir(), 'artifacts-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const artifacts = new Artifacts(folder, LIMITS, createLogger({ level: 'fatal', format: 'json' }, {}));
  const page = await browser.newPage();
  const images: Buffer[] = [];
  for (const [index, [password, code]] of [
    ['', ''],
    [PASSWORD, CODE],
  ].entries()) {
    await page.setContent(`<p>Sign in</p><input value="${password}"><textarea>${code}</textarea>`);
    await artifacts.keep({ connectionId: 'c', capability: 'social.login', code: `n${index}` }, page, undefined);
    const name = readdirSync(folder).find((file) => file.endsWith(`n${index}.png`)) ?? '';
    images.push(readFileSync(join(folder, name)));
  }
  t.ok(images[0]?.equals(images[1] ?? Buffer.alloc(0)), 'the same image, whatever was typed');
});

t.test('what shows why a run failed', async (t) => {
  const network = await Network.start();
  t.teardown(() => network.close());
  const folder = mkdtempSync(join(tmpdir(), 'artifacts-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const pool = new Pool(network.site, { artifacts: 6, navigation_ms: 5_000 }, {}, folder);
  t.teardown(() => pool.close());
  const { channel } = pool;
  const files = () => readdirSync(folder).sort();
  /** What was kept of runs that ended with this code, once a file of this kind is there. */
  const kept = (code: string, ending: 'png' | 'zip'): Promise<string[]> =>
    eventually(
      `a ${ending} of ${code}`,
      () => files().filter((name) => name.includes(code)),
      (found) => found.some((name) => name.endsWith(ending)),
    );

  t.test('a failed page program leaves a screenshot and a trace that only the owner reads', async (t) => {
    const account = new Account(network, 'ada');
    await account.login(channel);
    await network.fault({ account: 'ada', capability: 'social.health.check', mode: 'malformed', times: 1 });
    t.equal((await account.run(channel, 'social.health.check').expect('failure')).code, 'parsing_error');
    const names = await kept('social.health.check_parsing_error', 'zip');
    t.equal(names.filter((name) => name.endsWith('.png')).length, 1);
    for (const name of names) t.equal(statSync(join(folder, name)).mode & 0o077, 0);
    const trace = unzipped(readFileSync(join(folder, names.find((name) => name.endsWith('.zip')) ?? '')));
    t.match(trace, /\/feed/, 'the trace tells where the run was');
    t.match(trace, /"type":"frame-snapshot"/, 'and has the page');
    t.match(trace, /"type":"screencast-frame"/, 'and pictures of it');
    await account.run(channel, 'social.health.check').expect('result');
    t.same(files(), names, 'nothing of runs that end well');
  });

  t.test('a sign-in leaves no trace, and no file holds the password or the code', async (t) => {
    const wrong = new Account(network, 'grace');
    wrong.password = PASSWORD;
    t.equal((await wrong.run(channel, 'social.login').expect('failure')).code, 'authentication_failed');
    t.same((await kept('authentication_failed', 'png')).length, 1, 'a screenshot alone');

    const asked = new Account(network, 'grace+email');
    await network.account({ username: asked.username, password: PASSWORD });
    asked.password = PASSWORD;
    const run = asked.run(channel, 'social.login');
    await run.expect('challenge');
    await network.fault({ account: asked.username, capability: 'social.login', mode: 'hang', times: 1 });
    run.code(CODE);
    t.equal((await run.expect('failure')).code, 'upstream_timeout', 'the page with the code still stands there');
    t.same((await kept('social.login_upstream_timeout', 'png')).length, 1, 'a screenshot alone');
  });

  longTest(t, 'nor does a trace of a run that met a challenge', async (t) => {
    const account = new Account(network, 'radia+recruiter+switch-email');
    await account.login(channel);
    const run = account.run(channel, 'social.recruiter.switch');
    await run.expect('challenge');
    await network.fault({ account: account.username, capability: 'social.recruiter.switch', mode: 'hang', times: 1 });
    run.code(CODE);
    await run.expect('failure');
    t.same((await kept('social.recruiter.switch', 'png')).length, 1, 'a screenshot alone');
  });

  longTest(t, 'a run that met no challenge is traced again, and no more files stay than the limit', async (t) => {
    const account = new Account(network, 'edsger');
    await account.login(channel);
    for (let n = 0; n < 3; n++) {
      await network.fault({ account: 'edsger', capability: 'social.health.check', mode: 'malformed', times: 1 });
      await account.run(channel, 'social.health.check').expect('failure');
      account.stateRevision += 1; // each of them in a context of its own
    }
    const traces = () => files().filter((name) => name.includes('edsger') && name.endsWith('.zip'));
    const remaining = await eventually(
      'six files, three of them traces',
      files,
      ({ length }) => length === 6 && traces().length === 3,
    );
    t.equal(remaining.length, 6);
  });

  t.test('nothing that was typed stands in any file', async (t) => {
    for (const name of files()) {
      const bytes = readFileSync(join(folder, name));
      const text = name.endsWith('.zip') ? unzipped(bytes) : bytes.toString('latin1');
      t.notMatch(text, PASSWORD, name);
      t.notMatch(text, CODE, name);
    }
  });
});
