import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { BrowserKeeper } from '../../../browser-pool/chromium/browser-keeper.js';
import { confinements, type SandboxSetting } from '../../../browser-pool/chromium/confinement.js';
import { findBrowser } from '../../../browser-pool/chromium/find-browser.js';
import { LIMITS } from '../../../browser-pool/limits.js';
import { requireBrowserSandbox } from '../../../server/start/browser-sandbox.js';
import { createLogger } from '../../../storage/log/log.js';
import { eventually } from '../../fixture/eventually.js';

const path = findBrowser() ?? '';

t.test('a browser is kept in', async (t) => {
  t.test('its sandbox where it can be, and root never runs it', async (t) => {
    const { browser, warnings } = await launched(t, 'auto');
    const processes = [browser.pid, ...descendants(browser.pid)];
    const able = confinements(path, 'auto')[0];
    if (process.getuid?.() === 0 && able?.ownUser) {
      t.notOk(processes.some((pid) => statSync(`/proc/${pid}`).uid === 0 && commandOf(pid).includes('--type=')));
      t.not(uidOf(browser.pid), 0, 'an own user');
    }
    const context = await browser.newContext({});
    await (await context.newPage()).goto('about:blank');
    const renderers = descendants(browser.pid).filter((pid) => commandOf(pid).includes('--type=renderer'));
    t.ok(renderers.length > 0);
    const sandboxed = !commandOf(browser.pid).includes('--no-sandbox');
    t.ok(sandboxed || !namespacesWork(), 'in its sandbox where the kernel gives it one');
    t.equal(
      sandboxed,
      renderers.every((pid) => /^Seccomp:\s+2$/m.test(statusOf(pid))),
    );
    t.equal(warnings.length, sandboxed ? 0 : 1, 'a warning where it cannot');
    browser.kill();
    t.ok(browser.gone, 'killed by its process id');
  });

  t.test('no sandbox only when the setting says so', async (t) => {
    const { browser, warnings } = await launched(t, 'off');
    t.match(warnings.join(), 'BROWSER_SANDBOX is off', 'and it is told each time');
    t.ok(commandOf(browser.pid).includes('--no-sandbox'));
    t.strictSame(
      confinements(path, 'on').filter(({ sandboxed }) => !sandboxed),
      [],
    );
  });

  t.test('nothing, where its user cannot reach it, unless it must be', async (t) => {
    if (process.getuid?.() !== 0) return;
    const folder = mkdtempSync(join(tmpdir(), 'closed-'));
    t.teardown(() => rmSync(folder, { recursive: true, force: true }));
    const closed = join(folder, 'browser');
    copyFileSync('/bin/true', closed);
    chmodSync(closed, 0o755);
    t.strictSame(confinements(closed, 'auto'), [{ sandboxed: false, ownUser: false }]);
    t.strictSame(confinements(closed, 'on'), []);
    useBrowser(t, closed);
    await t.rejects(launched(t, 'on'), { code: 'browser_unavailable' });
    await t.rejects(requireBrowserSandbox('on'), /^BROWSER_SANDBOX has "on", and no browser starts/);
  });

  t.test('the last way that is left, again and again until it starts', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'failing-'));
    t.teardown(() => rmSync(folder, { recursive: true, force: true }));
    const [failing, mended] = [join(folder, 'browser'), join(folder, 'mended')];
    writeFileSync(failing, `#!/bin/sh\ntest -e '${mended}' && exec '${path}' "$@"\necho no sandbox >&2\nexit 1\n`);
    chmodSync(folder, 0o755);
    chmodSync(failing, 0o755);
    useBrowser(t, failing);
    const { keeper } = keeperOf(t, 'off');
    await t.rejects(keeper.current(), { code: 'browser_unavailable' });
    writeFileSync(mended, '');
    const again = () => keeper.current().catch(() => undefined);
    const browser = await eventually('it starts', again, (started) => started !== undefined, 50);
    t.ok(commandOf(browser?.pid ?? 0).includes('--no-sandbox'));
  });
});

/** Has this executable launched as the browser until the test ends. */
function useBrowser(t: Test, executable: string): void {
  const { BROWSER_PATH } = process.env;
  process.env.BROWSER_PATH = executable;
  t.teardown(() => {
    if (BROWSER_PATH === undefined) delete process.env.BROWSER_PATH;
    else process.env.BROWSER_PATH = BROWSER_PATH;
  });
}

function keeperOf(t: Test, setting: SandboxSetting) {
  const log = createLogger({ level: 'silent', format: 'json' }, {});
  const warnings: unknown[] = [];
  log.warn = (told: unknown) => void warnings.push(told);
  const keeper = new BrowserKeeper([], LIMITS, log, setting);
  t.teardown(() => keeper.close());
  return { keeper, warnings };
}

async function launched(t: Test, setting: SandboxSetting) {
  const { keeper, warnings } = keeperOf(t, setting);
  return { browser: await keeper.current(), warnings };
}

/** Whether the kernel gives the user that the browser runs as a namespace of its own, with its ids mapped. */
function namespacesWork(): boolean {
  const user = process.getuid?.() === 0 ? ['setpriv', '--reuid=61017', '--regid=61017', '--clear-groups'] : [];
  const [command = '', ...args] = [...user, 'unshare', '--user', '--map-root-user', 'true'];
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0;
}

const statusOf = (pid: number) => readFileSync(`/proc/${pid}/status`, 'utf8');
const uidOf = (pid: number) => Number(/^Uid:\s+(\d+)/m.exec(statusOf(pid))?.[1]);
const commandOf = (pid: number) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');

function descendants(root: number): number[] {
  const parents = readdirSync('/proc').flatMap((entry) => {
    try {
      return /^\d+$/.test(entry)
        ? [[Number(entry), Number(/^PPid:\s+(\d+)/m.exec(statusOf(Number(entry)))?.[1])] as const]
        : [];
    } catch {
      return []; // It ended meanwhile.
    }
  });
  const below = (pid: number): number[] =>
    parents.flatMap(([child, parent]) => (parent === pid ? [child, ...below(child)] : []));
  return below(root);
}
