import { pathToFileURL } from 'node:url';
import type { Worker } from 'node:worker_threads';
import { Piscina } from 'piscina';
import { type Program, programFile } from '../../storage/process/programs.js';

/** The threads of a node; what they are to do comes with the node. */
export interface ThreadPools {
  /** Its threads load as soon as it is made. */
  actors: Piscina;
  /** Its threads are made when they are given their tasks. */
  browsers: Piscina;
}

/** Lets the actor threads, without which nothing can start, load while what the node needs beside them is made ready. */
export function openThreadPools({ actorThreads, browserThreads }: Threads): ThreadPools {
  return {
    actors: threadPool('actors/thread/host', actorThreads, actorThreads),
    browsers: threadPool('browser-pool/host', browserThreads, 0),
  };
}

interface Threads {
  actorThreads: number;
  browserThreads: number;
}

/** As many threads as are asked for, `atOnce` of them now, each for one task that lasts as long as the thread. */
function threadPool(program: Program, threads: number, atOnce: number): Piscina {
  const pool = new Piscina({
    filename: pathToFileURL(programFile(program)).href,
    minThreads: atOnce,
    maxThreads: threads,
    concurrentTasksPerWorker: 1,
    idleTimeout: Number.POSITIVE_INFINITY,
    // The threads live on their ports' messages: they must not block waiting for piscina's next task.
    atomics: 'disabled',
  });
  pool.on('error', () => {}); // every task reports its own end
  for (const thread of pool.threads) loads.set(thread, loadOf(thread));
  return pool;
}

const loads = new WeakMap<Worker, Promise<void>>();

/** Resolves when the thread has loaded, which its first message tells, or has ended before. */
function loadOf(thread: Worker): Promise<void> {
  return new Promise((resolve) => {
    thread.once('message', () => resolve()).once('exit', () => resolve());
  });
}

/** Ends the threads of pools in which no task runs. A thread that still loads is waited for: ended in the middle of it, it would abort the process. */
export async function endThreads(...pools: Piscina[]): Promise<void> {
  await Promise.all(pools.flatMap(({ threads }) => threads.map((thread) => loads.get(thread))));
  await Promise.all(pools.map((pool) => pool.close({ force: true })));
}
