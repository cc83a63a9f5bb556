import { LIMITS } from './limits.js';

/** Works through all of them, `most` at once. Gives the results in their order. */
export async function mapConcurrent<T, Result>(
  all: Iterable<T>,
  work: (one: T) => Promise<Result>,
  most: number = LIMITS.concurrent_calls,
): Promise<Result[]> {
  const left = [...all].entries();
  const results: Result[] = [];
  const worker = async () => {
    for (const [place, one] of left) results[place] = await work(one);
  };
  await Promise.all(Array.from({ length: most }, worker));
  return results;
}
