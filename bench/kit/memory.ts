import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import typia from 'typia';
import { LIMITS } from './limits.js';

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

interface Answer {
  id: number;
  result?: unknown;
  error?: { message: string };
}

interface Notification {
  method: string;
  params: { sessionId: string; message?: string };
}

const isAnswer = typia.createIs<Answer>();
const isNotification = typia.createIs<Notification>();

/** Node's inspector protocol over its socket: to the main thread directly, to the others through it. */
class Inspector {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  readonly #workers: string[] = [];
  #next = 1;

  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener('message', ({ data }) => this.#receive(String(data)));
  }

  static async open(url: string): Promise<Inspector> {
    const socket = new WebSocket(url);
    await once(socket, 'open');
    return new Inspector(socket);
  }

  /** Names every other thread of the process. */
  async workers(): Promise<string[]> {
    await this.request('NodeWorker.enable', { waitForDebuggerOnStart: false });
    return this.#workers;
  }

  async request(method: string, params: object, worker?: string): Promise<unknown> {
    const id = this.#next++;
    const answered = new Promise<Answer>((resolve) => this.#waiting.set(id, resolve));
    const message = JSON.stringify({ id, method, params });
    if (worker === undefined) this.#socket.send(message);
    else {
      const order = { method: 'NodeWorker.sendMessageToWorker', params: { sessionId: worker, message } };
      this.#socket.send(JSON.stringify({ id: this.#next++, ...order }));
    }
    const { result, error } = await answered;
    if (error) throw new Error(`${method}: ${error.message}`);
    return result;
  }

  close(): void {
    this.#socket.close();
  }

  #receive(text: string): void {
    const message: unknown = JSON.parse(text);
    if (isAnswer(message)) {
      this.#waiting.get(message.id)?.(message);
      this.#waiting.delete(message.id);
    } else if (isNotification(message)) {
      const { sessionId, message: inner } = message.params;
      if (message.method === 'NodeWorker.attachedToWorker') this.#workers.push(sessionId);
      if (message.method === 'NodeWorker.receivedMessageFromWorker' && inner !== undefined) this.#receive(inner);
    }
  }
}
