import { LIMITS } from './limits.js';

/** Works through all of them, `LIMITS.concurrent_calls` at once. Gives the results in their order. */
export async function mapConcurrent<T, Result>(all: Iterable<T>, work: (one: T) => Promise<Result>): Promise<Result[]> {
  const left = [...all].entries();
  const results: Result[] = [];
  const worker = async () => {
    for (const [place, one] of left) results[place] = await work(one);
  };
  await Promise.all(Array.from({ length: LIMITS.concurrent_calls }, worker));
  return results;
}
