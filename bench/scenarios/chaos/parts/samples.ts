import { useOf } from '../../../kit/process-use.js';
import type { NodeSample } from '../evidence.js';
import { LIMITS } from '../limits.js';
import type { ChaosNode } from './node.js';

/** Takes a sample of each node that is up, every few seconds, until it is disposed of. */
export class Sampler implements Disposable {
  readonly samples: NodeSample[] = [];
  readonly #timer: NodeJS.Timeout;

  constructor(nodes: readonly ChaosNode[]) {
    this.#timer = setInterval(() => {
      for (const node of nodes) void this.#sample(node);
    }, LIMITS.sample_ms);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  async #sample(node: ChaosNode): Promise<void> {
    const { pid } = node;
    const use = pid === undefined ? undefined : useOf(pid);
    if (pid === undefined || !use) return;
    const contexts = await contextsOf(node.metricsUrl);
    if (contexts === undefined) return;
    const database_connections = node.link.connections;
    this.samples.push({ node: node.number, pid, at: Date.now(), ...use, database_connections, contexts });
  }
}

/** Undefined when it does not answer in time: a node that is paused or ends. */
async function contextsOf(metricsUrl: string): Promise<number | undefined> {
  try {
    const answer = await fetch(`${metricsUrl}/metrics`, { signal: AbortSignal.timeout(LIMITS.sample_ms) });
    const count = /^connection_service_browser_contexts (\d+)$/m.exec(await answer.text())?.[1];
    return count === undefined ? undefined : Number(count);
  } catch {
    return undefined;
  }
}
