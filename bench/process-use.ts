import { readdirSync, readFileSync } from 'node:fs';

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
