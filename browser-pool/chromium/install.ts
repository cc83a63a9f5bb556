import { spawn } from 'node:child_process';
import { childEnvironment } from '../../storage/process/child-environment.js';
import { LIMITS } from '../limits.js';
import { findBrowser } from './find-browser.js';
import { type InstallStep, installSteps, readAptPlan } from './install-steps.js';

/**
 * Installs a browser before the service starts when there is none, and says before each step what it changes; run by `npm start` and
 * `npm test`. BROWSER_PATH and BROWSER_INSTALL=off decline. Always ends with status 0: without a browser the service still serves, and
 * its social operations fail with `browser_unavailable`.
 */
async function install(): Promise<void> {
  if (findBrowser()) return;
  if (process.env.BROWSER_PATH) {
    report('BROWSER_PATH names no executable file: correct or unset it; social operations will fail until then');
    return;
  }
  // The start refuses any other value, once there is something to start.
  if ((process.env.BROWSER_INSTALL || 'auto') !== 'auto') {
    report('there is none, and BROWSER_INSTALL is off: social operations will fail until there is one');
    return;
  }
  report('there is none, and social operations need one (BROWSER_PATH names one, BROWSER_INSTALL=off goes without)');
  for (const step of installSteps({ platform: process.platform, root: process.getuid?.() === 0 })) {
    if (!(await announced(step))) continue;
    await run(step.command, step.args, forward);
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

/** Says what the step does. False when it must not be done: apt would change what is there already. */
async function announced({ title, command, plan }: InstallStep): Promise<boolean> {
  if (!plan) {
    report(`trying ${title}`);
    return true;
  }
  const said: Buffer[] = [];
  await run(command, plan, (chunk) => said.push(chunk));
  const change = readAptPlan(Buffer.concat(said).toString());
  if (!change) {
    report(`cannot be had by ${title}`);
    return false;
  }
  const size = change.disk === undefined ? '' : `, ${change.disk} on disk`;
  const news = `${change.install} new packages${size}`;
  if (change.upgrade === 0 && change.remove === 0) {
    report(`trying ${title}: ${news}; nothing that is installed is changed`);
    return true;
  }
  report(
    `not done: ${title}: besides ${news}, it would upgrade ${change.upgrade} packages and remove ${change.remove}`,
  );
  return false;
}

/** What a download needs to know beside: the way out of this network, whom to trust, and from where. */
const DOWNLOADS = [
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'no_proxy', 'all_proxy'],
  ...['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR'],
  ...['PLAYWRIGHT_DOWNLOAD_HOST', 'PLAYWRIGHT_CHROMIUM_DOWNLOAD_HOST', 'PLAYWRIGHT_DOWNLOAD_CONNECTION_TIMEOUT'],
];

const forward = (chunk: Buffer) => void process.stderr.write(chunk);

/**
 * Runs a command to its end and hands on its output. A step that fails, takes too long or is silent for too
 * long only leads to the next one. `spawn`'s own timeout is not used: its timer outlives a command that does not exist.
 */
function run(command: string, args: string[], output: (chunk: Buffer) => void): Promise<void> {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      // English: what apt would do is read.
      env: childEnvironment({ DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C' }, DOWNLOADS),
    });
    const stop = () => {
      child.kill();
      child.stdout.destroy();
      child.stderr.destroy();
    };
    const limit = setTimeout(stop, LIMITS.install_step_ms);
    const silence = setTimeout(stop, LIMITS.install_silence_ms);
    const take = (chunk: Buffer) => {
      output(chunk);
      silence.refresh();
    };
    child.stdout.on('data', take);
    child.stderr.on('data', take);
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
