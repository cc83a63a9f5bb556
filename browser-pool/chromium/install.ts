import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { childEnvironment } from '../../storage/child-environment.js';
import { LIMITS } from '../limits.js';
import { findBrowser } from './find-browser.js';

/**
 * Installs a browser before the service starts when there is none; run by `npm start` and `npm test`. Always ends with
 * status 0: without a browser the service still serves, and its social operations fail with `browser_unavailable`.
 */
async function install(): Promise<void> {
  if (findBrowser()) return;
  if (process.env.BROWSER_PATH) {
    report('BROWSER_PATH names no executable file: correct or unset it; social operations will fail until then');
    return;
  }
  for (const [title, command, args] of steps()) {
    report(`no browser found, trying: ${title}`);
    await run(command, args);
    const found = findBrowser();
    if (found) {
      report(`installed ${found}`);
      return;
    }
  }
  report(
    'no browser could be installed: install chromium-headless-shell or chromium, or set BROWSER_PATH; social operations will fail until then',
  );
}

function steps(): [title: string, command: string, args: string[]][] {
  const playwright = dirname(createRequire(import.meta.url).resolve('playwright/package.json'));
  const download: [string, string, string[]] = [
    'playwright install chromium-headless-shell',
    process.execPath,
    [join(playwright, 'cli.js'), 'install', 'chromium-headless-shell'],
  ];
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return [download];
  return [
    download,
    ['apt-get update', 'apt-get', ['update']],
    ['apt-get install chromium-headless-shell', 'apt-get', ['install', '-y', 'chromium-headless-shell']],
    ['apt-get install chromium', 'apt-get', ['install', '-y', 'chromium']],
  ];
}

/** What a download needs to know beside: the way out of this network, whom to trust, and from where. */
const DOWNLOADS = [
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'no_proxy', 'all_proxy'],
  ...['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR'],
  ...['PLAYWRIGHT_DOWNLOAD_HOST', 'PLAYWRIGHT_CHROMIUM_DOWNLOAD_HOST', 'PLAYWRIGHT_DOWNLOAD_CONNECTION_TIMEOUT'],
];

/**
 * Runs one step to its end, its output on stderr. A step that fails, takes too long or is silent for too long only
 * leads to the next. `spawn`'s own timeout is not used: its timer outlives a command that does not exist.
 */
function run(command: string, args: string[]): Promise<void> {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: childEnvironment({ DEBIAN_FRONTEND: 'noninteractive' }, DOWNLOADS),
    });
    const stop = () => {
      child.kill();
      child.stdout.destroy();
      child.stderr.destroy();
    };
    const limit = setTimeout(stop, LIMITS.install_step_ms);
    const silence = setTimeout(stop, LIMITS.install_silence_ms);
    const forward = (chunk: Buffer) => {
      process.stderr.write(chunk);
      silence.refresh();
    };
    child.stdout.on('data', forward);
    child.stderr.on('data', forward);
    const done = () => {
      clearTimeout(limit);
      clearTimeout(silence);
      resolve();
    };
    child.once('error', done);
    child.once('close', done);
  });
}

function report(line: string): void {
  process.stderr.write(`browser: ${line}\n`);
}

await install();
