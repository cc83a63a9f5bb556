import { mkdir, mkdtemp, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** Where the services of this run write a CPU profile of each thread as they end; undefined: they write none. */
let folder: string | undefined;

/** Has every service that is started from now on profiled. */
export async function profileServices(): Promise<void> {
  await mkdir('.data/profiles', { recursive: true });
  folder = await mkdtemp('.data/profiles/');
}

/** Arguments of a service's Node. Its threads inherit them. */
export const profileArguments = (): string[] =>
  folder === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${join(process.cwd(), folder)}`];

/** What was written so far, one file a thread: `CPU.<date>.<time>.<process>.<thread>.<number>.cpuprofile`, thread 0 the main one. */
export async function profileFiles(): Promise<string[]> {
  const from = folder;
  return from === undefined ? [] : (await readdir(from)).sort().map((name) => join(from, name));
}
