import { readdirSync, readFileSync } from 'node:fs';

/** What a process and its descendants use, as /proc reports it. */
export interface TreeUse {
  processes: number;
  /** Proportional set size: memory shared between processes counts once. */
  memory_mib: number;
  /** Processor time so far, user and system, with that of children that have ended. */
  cpu_ms: number;
}

/** Linux reports processor time in hundredths of a second. */
const TICK_MS = 10;

/**
 * The use of a process and its descendants; null where there is no /proc, or no such process. A command that `counts`
 * refuses is left out with its descendants.
 */
export function treeUse(root: number, counts: (command: string) => boolean = () => true): TreeUse | null {
  const parents = parentsOfAll();
  if (!parents?.has(root)) return null;
  const children = Map.groupBy(parents.keys(), (pid) => parents.get(pid) ?? 0);
  const below = (pid: number): number[] =>
    counts(read(`/proc/${pid}/cmdline`) ?? '') ? [pid, ...(children.get(pid) ?? []).flatMap(below)] : [];
  const use: TreeUse = { processes: 0, memory_mib: 0, cpu_ms: 0 };
  for (const pid of below(root)) {
    const [memory_kib, fields] = [memoryOf(pid), statOf(pid)];
    if (!fields) continue;
    use.processes += 1;
    use.memory_mib += memory_kib / 1_024;
    use.cpu_ms += fields.slice(11, 15).reduce((ticks, field) => ticks + Number(field), 0) * TICK_MS;
  }
  return use;
}

function parentsOfAll(): Map<number, number> | null {
  try {
    const pids = readdirSync('/proc')
      .filter((entry) => /^\d+$/.test(entry))
      .map(Number);
    return new Map(pids.map((pid) => [pid, Number(statOf(pid)?.[1] ?? 0)]));
  } catch {
    return null;
  }
}

/** The fields of `stat` behind the command's name, which may hold spaces: state, parent, … user and system ticks, own and of ended children. */
function statOf(pid: number): string[] | undefined {
  const stat = read(`/proc/${pid}/stat`);
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
}

/** In KiB. PSS where the kernel reports it and this user may read it, else resident memory. */
function memoryOf(pid: number): number {
  const shared = /^Pss:\s+(\d+)/m.exec(read(`/proc/${pid}/smaps_rollup`) ?? '');
  const resident = shared ?? /^VmRSS:\s+(\d+)/m.exec(read(`/proc/${pid}/status`) ?? '');
  return Number(resident?.[1] ?? 0);
}

/** Undefined when the process has ended meanwhile. */
function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
