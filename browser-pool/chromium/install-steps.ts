import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** One way to get a browser: the command that is run, and one that only says what that would do. */
export interface InstallStep {
  title: string;
  command: string;
  args: string[];
  /** The arguments that show what apt would do, as `readAptPlan` reads it. */
  plan?: string[];
}

/**
 * The ways, best first: Playwright's own download of the headless shell, which changes nothing on the system; then, for root on a
 * system that has apt, the shell's package, and at last the one of the whole browser.
 */
export function installSteps({ platform, root }: { platform: NodeJS.Platform; root: boolean }): InstallStep[] {
  const playwright = dirname(createRequire(import.meta.url).resolve('playwright/package.json'));
  const download: InstallStep = {
    title: "Playwright's download of chromium-headless-shell, into this user's cache",
    command: process.execPath,
    args: [join(playwright, 'cli.js'), 'install', 'chromium-headless-shell'],
  };
  if (platform !== 'linux' || !root) return [download];
  const update = { title: 'apt-get update', command: 'apt-get', args: ['update'] };
  return [download, update, aptInstall('chromium-headless-shell'), aptInstall('chromium')];
}

/**
 * Without what is only recommended, which is a desktop's: printers, sound, a power daemon. It removes nothing; that it upgrades
 * nothing is seen in its plan, because no option forbids it for what a package depends on.
 */
function aptInstall(name: string): InstallStep {
  const install = ['install', '--no-install-recommends', '--no-remove'];
  return {
    title: `apt-get install ${name}`,
    command: 'apt-get',
    args: [...install, '--yes', name],
    plan: [...install, '--assume-no', name],
  };
}

/** What apt would do. */
export interface AptPlan {
  install: number;
  upgrade: number;
  remove: number;
  /** As apt puts it: `306 MB`. */
  disk: string | undefined;
}

/** Reads what apt answers in English; undefined when it cannot do it at all. */
export function readAptPlan(text: string): AptPlan | undefined {
  const counts = /^(\d+) upgraded, (\d+) newly installed, (?:\d+ reinstalled, )?(\d+) to remove/m.exec(text);
  if (!counts) return undefined;
  const [, upgrade, install, remove] = counts.map(Number);
  const disk = /^After this operation, (.+) of additional disk space/m.exec(text)?.[1];
  return { install: install ?? 0, upgrade: upgrade ?? 0, remove: remove ?? 0, disk };
}
