import { readdirSync, readFileSync } from 'node:fs';

/** Of the kernel's count of processor time; the same on every machine that Node runs on. */
const TICK_ms = 10;
/** The system calls in which a thread with an event loop waits, by their numbers on x86-64 and on arm64; all others wait for a lock. */
const POLLING = new Set(process.arch === 'arm64' ? ['22'] : ['232', '281', '441']);

export interface Processor {
  /** As the kernel shows it: at most 15 characters. */
  name: string;
  parent: number;
  /** When it was started, in ticks since the machine was: with its number it names the process for good. */
  began: number;
  /** It has ended, and its parent has not seen that yet. */
  isZombie: boolean;
  /** Since it began, with the threads that have ended. */
  own_ms: number;
  /** Of its children that have ended and were waited for. */
  ended_children_ms: number;
}

/** What `/proc/<pid>/stat` or `/proc/<pid>/task/<tid>/stat` says. */
export function parseStat(stat: string): Processor {
  const end = stat.lastIndexOf(')');
  const fields = stat.slice(end + 2).split(' ');
  const ticks = (first: number) => (Number(fields[first]) + Number(fields[first + 1])) * TICK_ms;
  return {
    name: stat.slice(stat.indexOf('(') + 1, end),
    parent: Number(fields[1]),
    began: Number(fields[19]),
    isZombie: fields[0] === 'Z',
    own_ms: ticks(11),
    ended_children_ms: ticks(13),
  };
}

/** Undefined when it has ended. `path`: of the process, or of one of its threads, below /proc. */
export function processorOf(path: string | number): Processor | undefined {
  const stat = read(`/proc/${path}/stat`);
  return stat === '' ? undefined : parseStat(stat);
}

/** What all processors of the machine were busy for since it started; 0 where the kernel does not show it. */
export function machineBusy_ms(): number {
  const [, user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0] = read('/proc/stat')
    .split('\n', 1)[0]!
    .split(/\s+/)
    .map(Number);
  return (user + nice + system + irq + softirq) * TICK_ms;
}

/** The processes that this one has started, whichever of its threads did, as far as they run. */
export function childrenOf(pid: number): number[] {
  return threadsOf(pid).flatMap((tid) =>
    read(`/proc/${pid}/task/${tid}/children`).split(' ').filter(Boolean).map(Number),
  );
}

/** The processes below this one, with those that they started. A command that `counts` refuses is left out with what is below it. */
export function descendantsOf(pid: number, counts: (command: string) => boolean = () => true): number[] {
  return childrenOf(pid)
    .filter((child) => counts(read(`/proc/${child}/cmdline`)))
    .flatMap((child) => [child, ...descendantsOf(child, counts)]);
}

/** Of a process, of all below it that `counts` takes, and of their children that have ended. */
export function treeTime_ms(pid: number, counts?: (command: string) => boolean): number {
  return [pid, ...descendantsOf(pid, counts)].reduce((sum, one) => {
    const { own_ms = 0, ended_children_ms = 0 } = processorOf(one) ?? {};
    return sum + own_ms + ended_children_ms;
  }, 0);
}

/** None of a process that has ended. */
export function threadsOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map(Number);
  } catch {
    return [];
  }
}

/** True for a thread that waits for events now: the main thread and the workers of Node do, the helpers of V8 and libuv never. */
export function isPolling(pid: number, tid: number): boolean {
  return POLLING.has(read(`/proc/${pid}/task/${tid}/syscall`).split(' ', 1)[0] ?? '');
}

/** Empty when the process has ended meanwhile, and where the kernel does not show it. */
function read(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return '';
  }
}
