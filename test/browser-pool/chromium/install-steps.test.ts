import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import t from 'tap';
import { installSteps, readAptPlan } from '../../../browser-pool/chromium/install-steps.js';

const shown = (platform: NodeJS.Platform, root: boolean) =>
  installSteps({ platform, root }).map(({ command, args }) => [command.replace(/.*\//, ''), ...args].join(' '));

t.test(
  "Playwright's headless shell comes first, then for root apt's, then apt's browser, without what is recommended",
  async (t) => {
    const download = /^node .*playwright\/cli\.js install chromium-headless-shell$/;
    t.match(shown('linux', true), [
      download,
      'apt-get update',
      'apt-get install --no-install-recommends --no-remove --yes chromium-headless-shell',
      'apt-get install --no-install-recommends --no-remove --yes chromium',
    ]);
    for (const lines of [shown('linux', false), shown('darwin', true)]) {
      t.equal(lines.length, 1, 'the system is left alone');
      t.match(lines[0], download);
    }
  },
);

t.test('what apt would do is read before it does it', async (t) => {
  const plan = (counts: string) => `The following NEW packages will be installed:
  chromium-common chromium-headless-shell
${counts} and 121 not upgraded.
Need to get 99.9 MB of archives.
After this operation, 306 MB of additional disk space will be used.
Do you want to continue? [Y/n] N
Abort.
`;
  t.same(readAptPlan(plan('0 upgraded, 19 newly installed, 0 to remove')), {
    install: 19,
    upgrade: 0,
    remove: 0,
    disk: '306 MB',
  });
  t.match(readAptPlan(plan('15 upgraded, 115 newly installed, 1 to remove')), { install: 115, upgrade: 15, remove: 1 });
  t.equal(readAptPlan('E: Unable to locate package chromium-headless-shell\n'), undefined);
});

t.test('without leave to install one nothing is run, and one line says so', async (t) => {
  const program = fileURLToPath(new URL('../../../browser-pool/chromium/install.js', import.meta.url));
  const env = { PATH: '/nowhere', PLAYWRIGHT_BROWSERS_PATH: t.testdir(), BROWSER_INSTALL: 'off' };
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [program], { env });
  t.match(stdout + stderr, /^browser: [^\n]*BROWSER_INSTALL is off[^\n]*\n$/);
});
