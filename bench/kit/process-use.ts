import { existsSync, readdirSync, readFileSync } from 'node:fs';

const ESTABLISHED = '01';

/** Connections of TCP that were accepted at a port of this machine and are open. */
export function acceptedAt(port: number): number {
  const local = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const lines = ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((table) => linesOf(table));
  return lines.filter((line) => {
    const [, from = '', , state] = line.trim().split(/\s+/);
    return from.endsWith(local) && state === ESTABLISHED;
  }).length;
}

/** Memory that a process holds, in MiB, and the files and sockets that it has open. Undefined when it has ended. */
export function useOf(pid: number): { rss_mib: number; handles: number } | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const rss_mib = Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0) / 1_024;
    return { rss_mib, handles: readdirSync(`/proc/${pid}/fd`).length };
  } catch {
    return undefined;
  }
}

/** None of a file that is not there: a machine may have no IPv6. */
function linesOf(file: string): string[] {
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
}
