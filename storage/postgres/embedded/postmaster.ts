import { execFileSync } from 'node:child_process';
import { readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { childEnvironment } from '../../process/child-environment.js';

/** The parent of the PostgreSQL that runs on this folder as this process; undefined where that process is another one, or none. */
export function postmasterParent(pid: number, dir: string): number | undefined {
  try {
    if (process.platform === 'linux') {
      // PostgreSQL works in the folder of its data.
      if (readlinkSync(`/proc/${pid}/cwd`) !== realpathSync(dir)) return undefined;
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return state === 'Z' ? undefined : Number(parent);
    }
    const options = { encoding: 'utf8', stdio: 'pipe', env: childEnvironment() } as const;
    const told = execFileSync('ps', ['-o', 'ppid=,args=', '-p', String(pid)], options);
    return told.includes('postgres') && told.includes(dir) ? Number.parseInt(told, 10) : undefined;
  } catch {
    return undefined;
  }
}
