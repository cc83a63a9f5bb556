import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { childEnvironment } from '../../storage/process/child-environment.js';

/** `on`: no browser without its sandbox. `auto`: without it where it cannot be had. `off`: without it. */
export type SandboxSetting = 'auto' | 'on' | 'off';

/** What a browser is kept in. */
export interface Confinement {
  /** Chromium's own sandbox is on. */
  sandboxed: boolean;
  /** Root starts it as `BROWSER_UID`, who owns nothing but the browser's profile. */
  ownUser: boolean;
}

/**
 * The user that root starts a browser as. It needs no name: it is in none of the ranges that users, services and containers
 * get theirs from.
 */
const BROWSER_UID = 61_017;

const AS_USER = ['setpriv', `--reuid=${BROWSER_UID}`, `--regid=${BROWSER_UID}`, '--clear-groups'];

/** The ways to start this executable that the setting allows, the best one first. */
export function confinements(path: string, setting: SandboxSetting): Confinement[] {
  const root = process.getuid?.() === 0;
  const ownUser = root && userCanRun(path);
  const sandboxed = setting !== 'off' && (!root || ownUser); // Chromium's sandbox refuses to run as root
  return [
    ...(sandboxed ? [{ sandboxed: true, ownUser }] : []),
    ...(setting !== 'on' ? [{ sandboxed: false, ownUser }] : []),
  ];
}

/** Calls `start` with what is to be launched for this executable; it has to be running when `start` resolves. */
export async function confined<T>(path: string, ownUser: boolean, start: (path: string) => Promise<T>): Promise<T> {
  if (!ownUser) return start(path);
  const folder = mkdtempSync(join(tmpdir(), 'browser-start-'));
  try {
    const starter = join(folder, 'start');
    writeFileSync(starter, starterOf(path));
    chmodSync(starter, 0o700);
    return await start(starter);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Gives the profile, which was made by root, to the browser's user, and becomes the browser as that user: the same process,
 * with the pipes it is controlled by.
 */
function starterOf(path: string): string {
  return [
    '#!/bin/sh -e',
    'for argument; do case $argument in --user-data-dir=*) HOME=$' + '{argument#*=} ;; esac; done',
    `chown -R ${BROWSER_UID}:${BROWSER_UID} "$HOME"`,
    'export HOME',
    'cd /',
    `exec ${AS_USER.join(' ')} '${path.replaceAll("'", `'\\''`)}' "$@"`,
    '',
  ].join('\n');
}

/** Whether the user reaches the executable and the folder that profiles are made in, and a starter in that folder can be run. */
function userCanRun(path: string): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'browser-start-'));
  try {
    const starter = join(folder, 'start');
    writeFileSync(starter, '#!/bin/sh\n', { mode: 0o700 });
    const options = { stdio: 'ignore', env: childEnvironment() } as const;
    execFileSync(starter, options); // not where the folder is mounted noexec
    const [setpriv = '', ...user] = AS_USER;
    execFileSync(setpriv, [...user, 'sh', '-c', 'test -x "$0" && test -x "$1"', path, tmpdir()], options);
    return true;
  } catch {
    return false;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
