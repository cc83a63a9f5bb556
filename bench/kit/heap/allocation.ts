import { relative } from 'node:path';
import typia from 'typia';
import { LIMITS } from '../limits.js';
import { Inspector } from './inspector.js';

/** What the main thread of an inspected process allocated on its heap, also what was collected meanwhile. Sampled: an estimate. */
export interface Allocation {
  bytes: number;
  /** The functions that allocated most, each with what it allocated itself. */
  places: { place: string; bytes: number }[];
}

interface ProfileNode {
  callFrame: { functionName: string; url: string; lineNumber: number };
  selfSize: number;
  children: ProfileNode[];
}

/** Samples what is allocated while `work` goes on. Buffers and what else lies outside of V8's heap are not in it. */
export async function allocationDuring<T>(
  inspectorUrl: string | undefined,
  work: () => Promise<T>,
): Promise<{ value: T; allocation: Allocation }> {
  if (inspectorUrl === undefined) throw new Error('the service has no inspector');
  const inspector = await Inspector.open(inspectorUrl);
  try {
    await inspector.request('HeapProfiler.startSampling', {
      samplingInterval: LIMITS.allocation_sample_bytes,
      includeObjectsCollectedByMajorGC: true,
      includeObjectsCollectedByMinorGC: true,
    });
    const value = await work();
    const stopped = await inspector.request('HeapProfiler.stopSampling', {});
    const { profile } = typia.assert<{ profile: { head: ProfileNode } }>(stopped);
    return { value, allocation: allocationOf(profile.head) };
  } finally {
    inspector.close();
  }
}

function allocationOf(head: ProfileNode): Allocation {
  const byPlace = new Map<string, number>();
  let bytes = 0;
  for (const nodes = [head]; nodes.length > 0; ) {
    const node = nodes.pop() as ProfileNode;
    nodes.push(...node.children);
    if (node.selfSize === 0) continue;
    bytes += node.selfSize;
    const place = placeOf(node.callFrame);
    byPlace.set(place, (byPlace.get(place) ?? 0) + node.selfSize);
  }
  const places = [...byPlace].map(([place, allocated]) => ({ place, bytes: allocated }));
  return { bytes, places: places.sort((one, other) => other.bytes - one.bytes).slice(0, LIMITS.allocation_places) };
}

function placeOf({ functionName, url, lineNumber }: ProfileNode['callFrame']): string {
  const name = functionName || '(anonymous)';
  if (url === '') return name;
  const file = url.startsWith('file://') ? relative(process.cwd(), new URL(url).pathname) : url;
  return `${name} (${file}:${lineNumber + 1})`;
}
