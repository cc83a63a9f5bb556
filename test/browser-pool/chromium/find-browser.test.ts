import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { chromium } from 'playwright';
import t from 'tap';
import { findBrowser } from '../../../browser-pool/chromium/find-browser.js';

const INSTALL = fileURLToPath(new URL('../../../browser-pool/chromium/install.js', import.meta.url));

function executable(path: string): string {
  writeFileSync(path, '');
  chmodSync(path, 0o755);
  return path;
}

t.test('the named browser comes first, the headless shell before the full one', async (t) => {
  const folder = t.testdir({ first: {}, second: {}, empty: {} });
  const PATH = [join(folder, 'first'), join(folder, 'second')].join(delimiter);
  const env = { PATH, PLAYWRIGHT_BROWSERS_PATH: join(folder, 'empty') };
  t.equal(findBrowser(env), null);
  const chrome = executable(join(folder, 'first', 'google-chrome'));
  t.equal(findBrowser(env), chrome);
  const shell = executable(join(folder, 'second', 'chromium-headless-shell'));
  t.equal(findBrowser(env), shell);
  t.equal(findBrowser({ ...env, BROWSER_PATH: chrome }), chrome);
  t.equal(findBrowser({ ...env, BROWSER_PATH: join(folder, 'nowhere') }), null, 'nothing else in its place');
});

t.test("the headless shell of Playwright's own revision comes before the system's", async (t) => {
  const folder = t.testdir({ bin: {}, downloads: {} });
  const env = { PATH: join(folder, 'bin'), PLAYWRIGHT_BROWSERS_PATH: join(folder, 'downloads') };
  const system = executable(join(folder, 'bin', 'chromium-headless-shell'));
  const build = (revision: string) => {
    const path = join(folder, 'downloads', `chromium_headless_shell-${revision}`, 'build');
    mkdirSync(path, { recursive: true });
    return executable(join(path, 'chrome-headless-shell'));
  };
  build('1');
  t.equal(findBrowser(env), system, 'one of another revision is not taken');
  const [, revision = ''] = /chromium-(\d+)/.exec(chromium.executablePath()) ?? [];
  const own = build(revision);
  t.equal(findBrowser(env), own);
});

t.test('with a browser there, installing has nothing to do and says nothing', async (t) => {
  const folder = t.testdir({ 'a-browser': '' });
  const path = executable(join(folder, 'a-browser'));
  const { stderr } = await promisify(execFile)(process.execPath, [INSTALL], {
    env: { ...process.env, BROWSER_PATH: path },
  });
  t.equal(stderr, '');
});

t.test('a named browser that is not there is reported in one line, with status 0', async (t) => {
  const { stderr } = await promisify(execFile)(process.execPath, [INSTALL], {
    env: { ...process.env, BROWSER_PATH: '/nowhere' },
  });
  t.match(stderr, /^browser: BROWSER_PATH names no executable file.*\n$/);
});
