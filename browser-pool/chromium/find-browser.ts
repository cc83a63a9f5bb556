import { accessSync, constants, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';

/** Names under which the system's packages install a browser, best first: the headless shell takes a fourth of the CPU of full Chromium. */
const SYSTEM_NAMES = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
];
/** What the executable is called in Playwright's own download of the headless shell. */
const SHELL_NAMES = ['chrome-headless-shell', 'headless_shell'];

/**
 * Path of the browser to launch, or null when there is none. Order: `BROWSER_PATH`, Playwright's headless shell, the
 * system's headless shell, the system's Chromium or Chrome. For a `BROWSER_PATH` that
 * cannot be executed the answer is null: an operator who names a browser wants that one.
 */
export function findBrowser(env: NodeJS.ProcessEnv = process.env): string | null {
  if (env.BROWSER_PATH) return executable(env.BROWSER_PATH) ? env.BROWSER_PATH : null;
  return playwrightShell(env) ?? systemBrowser(env);
}

function systemBrowser(env: NodeJS.ProcessEnv): string | null {
  const folders = (env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  for (const name of SYSTEM_NAMES) {
    for (const folder of folders) if (executable(join(folder, name))) return join(folder, name);
  }
  return null;
}

/**
 * The headless shell of the installed Playwright's own revision. Read from Playwright's files rather than through its
 * module, which takes longer to load than all other work of this file.
 */
function playwrightShell(env: NodeJS.ProcessEnv): string | null {
  try {
    const playwright = createRequire(createRequire(import.meta.url).resolve('playwright/package.json'));
    const core = dirname(playwright.resolve('playwright-core/package.json'));
    const revision = shellRevision(join(core, 'browsers.json'));
    const download = join(downloadFolder(env, core), `chromium_headless_shell-${revision}`);
    for (const build of readdirSync(download)) {
      for (const name of SHELL_NAMES) if (executable(join(download, build, name))) return join(download, build, name);
    }
  } catch {
    // Not downloaded: an unreadable folder is treated as an absent one.
  }
  return null;
}

function shellRevision(file: string): string | undefined {
  const list: { browsers: { name: string; revision: string }[] } = JSON.parse(readFileSync(file, 'utf8'));
  return list.browsers.find((browser) => browser.name === 'chromium-headless-shell')?.revision;
}

function downloadFolder(env: NodeJS.ProcessEnv, core: string): string {
  if (env.PLAYWRIGHT_BROWSERS_PATH === '0') return join(core, '.local-browsers');
  if (env.PLAYWRIGHT_BROWSERS_PATH) return env.PLAYWRIGHT_BROWSERS_PATH;
  if (process.platform === 'darwin') return join(home(), 'Library/Caches/ms-playwright');
  return join(env.XDG_CACHE_HOME ?? join(home(), '.cache'), 'ms-playwright');
}

/** `/` for a user without a name or a home, as in an image. */
function home(): string {
  try {
    return homedir();
  } catch {
    return '/';
  }
}

function executable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
