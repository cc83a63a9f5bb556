import { Pool } from 'undici';

/**
 * The yardstick of the deliveries scenario, run as a process: the same bodies posted to the same receiver by undici alone, as
 * many at once, over kept-alive connections, with nothing stored, signed or scheduled. It takes one Posting and answers
 * with the seconds it took.
 */
export interface Posting {
  origin: string;
  paths: string[];
  /** Posts in all, to the paths in turn. */
  count: number;
  /** Under way at once. */
  concurrency: number;
  ca: string;
  /** One of the bodies the service sent; the id in it is another one in each post, of the same length. */
  body: string;
}

async function post({ origin, paths, count, concurrency, ca, body }: Posting): Promise<number> {
  const pool = new Pool(origin, { connect: { ca }, pipelining: 1, connections: concurrency });
  let next = 0;
  const worker = async () => {
    for (let number = next++; number < count; number = next++) {
      const id = String(number).padStart(36, '0');
      const answer = await pool.request({
        method: 'POST',
        path: paths[number % paths.length] ?? '/',
        headers: { 'Content-Type': 'application/json', 'X-CS-Event-Id': id },
        body: Buffer.from(body.replace(/"id":"[^"]*"/, `"id":"${id}"`)),
      });
      await answer.body.dump();
      if (answer.statusCode !== 204) throw new Error(`the receiver answered ${answer.statusCode}`);
    }
  };
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: concurrency }, worker));
  const seconds = (performance.now() - startedAt) / 1000;
  await pool.close();
  return seconds;
}

process.once('message', (posting: Posting) => {
  void post(posting).then((seconds) => process.send?.(seconds, () => process.disconnect()));
});
