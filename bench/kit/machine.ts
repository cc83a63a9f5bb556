import { execFile } from 'node:child_process';
import { cpus, totalmem } from 'node:os';
import { promisify } from 'node:util';

/** Where a number was measured: it means nothing without that. */
export async function machine(): Promise<{ machine: string; commit: string }> {
  const cores = cpus();
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`;
  return {
    machine: `${cores.length} × ${cores[0]?.model.trim()}, ${memory}, ${process.platform}, node ${process.version}`,
    commit: await git('describe', '--always', '--dirty').catch(() => 'unknown'),
  };
}

async function git(...args: string[]): Promise<string> {
  return (await promisify(execFile)('git', args)).stdout.trim();
}
