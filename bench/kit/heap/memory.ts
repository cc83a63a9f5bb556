import { setTimeout as wait } from 'node:timers/promises';
import typia from 'typia';
import { LIMITS } from '../limits.js';
import { Inspector } from './inspector.js';

/** Memory of a process with all its threads, in KiB, right after their garbage was collected. */
export interface MemorySample {
  /** Resident memory of the process. */
  rss_kib: number;
  /** JavaScript objects, all threads. */
  heap_kib: number;
  /** Buffers and what else V8 knows of beyond its heap, all threads. Memory of TLS and of the allocator is in `rss` only. */
  external_kib: number;
  threads: number;
}

interface Usage {
  rss: number;
  heapUsed: number;
  external: number;
}

const USAGE = 'JSON.stringify(process.memoryUsage())';

/** Collects the garbage of every thread of an inspected process and measures what is left. */
export async function measureMemory(inspectorUrl: string | undefined): Promise<MemorySample> {
  if (inspectorUrl === undefined) throw new Error('the service has no inspector');
  const inspector = await Inspector.open(inspectorUrl);
  try {
    const threads = [undefined, ...(await inspector.workers())];
    for (const thread of threads) await inspector.request('HeapProfiler.collectGarbage', {}, thread);
    await wait(LIMITS.collected_memory_ms);
    const usages: Usage[] = [];
    for (const thread of threads) {
      const { result } = typia.assert<{ result: { value: string } }>(
        await inspector.request('Runtime.evaluate', { expression: USAGE, returnByValue: true }, thread),
      );
      usages.push(typia.json.assertParse<Usage>(result.value));
    }
    const sum = (read: (usage: Usage) => number) => usages.reduce((total, usage) => total + read(usage), 0) / 1_024;
    return {
      rss_kib: (usages[0]?.rss ?? 0) / 1_024,
      heap_kib: sum((usage) => usage.heapUsed),
      external_kib: sum((usage) => usage.external),
      threads: usages.length,
    };
  } finally {
    inspector.close();
  }
}
