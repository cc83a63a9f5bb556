import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';

/** Lists of cores as taskset takes them. */
export interface SplitCores {
  service: string;
  client: string;
}

/**
 * A core for the client and the others for the service with its database, so that a client that works harder takes nothing from what
 * it measures. Null on one core, and where there is no taskset: then they share.
 */
export function splitCores(): SplitCores | null {
  const cores = availableParallelism();
  if (cores < 2 || spawnSync('taskset', ['--version']).error) return null;
  return { service: `0-${cores - 2}`, client: `${cores - 1}` };
}

/** The command and arguments that run a program on these cores. */
export function onCores(cores: string | undefined, command: string, args: string[]): [string, string[]] {
  return cores === undefined ? [command, args] : ['taskset', ['--cpu-list', cores, command, ...args]];
}
