import { readdirSync, readFileSync } from 'node:fs';

/** Process ids of the browsers this process has started: Chromium's own processes without its helpers. */
export function browserProcesses(): number[] {
  const parents = new Map<number, number>();
  const browsers: number[] = [];
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      const pid = Number(entry);
      const stat = readFileSync(`/proc/${entry}/stat`, 'utf8');
      parents.set(pid, Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
      const command = readFileSync(`/proc/${entry}/cmdline`, 'utf8').split('\0');
      const chromium =
        /chrom|headless/.test(command[0] ?? '') && command.some((word) => word.startsWith('--remote-debug'));
      if (chromium && !command.some((word) => word.startsWith('--type='))) browsers.push(pid);
    } catch {
      // Ended while it was looked at.
    }
  }
  const ours = (pid: number): boolean => {
    const parent = parents.get(pid);
    return parent !== undefined && (parent === process.pid || ours(parent));
  };
  return browsers.filter(ours);
}
