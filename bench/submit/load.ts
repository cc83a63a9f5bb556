import autocannon from 'autocannon';
import { quantile } from '../report.js';

/** The client of the scenarios submit and overload, run as a process: takes one Load as a message, answers with a LoadResult. */
export interface Load {
  url: string;
  key: string;
  /** Makes the idempotency keys of this run different from those of others. */
  run: string;
  seconds: number;
  /** HTTP connections, each with one request under way. */
  clients: number;
  /** Taken in turn. */
  connectionIds: string[];
  body: string;
  /** Requests a second of all clients together, whatever the answers take, as long as a client is free. Absent: each sends when it was answered. */
  rate?: number;
}

export interface LoadResult {
  /** Answers 202. */
  accepted: number;
  seconds: number;
  /** Of accepted ones only. */
  p50_ms: number;
  p99_ms: number;
  max_ms: number;
  /** Answers 503. */
  refused: { count: number; withoutRetryAfter: number; p50_ms: number; p99_ms: number; max_ms: number };
  /** Every other outcome, by status or kind. */
  errors: Record<string, number>;
}

/** Requests one after another: each connection id in turn, each with a new idempotency key. */
function requestsOf({ key, run, connectionIds, body }: Load): autocannon.Request {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  let sent = 0;
  return {
    method: 'POST',
    body,
    setupRequest(request) {
      const number = sent++;
      return {
        ...request,
        path: `/v1/connections/${connectionIds[number % connectionIds.length]}/operations`,
        headers: { ...headers, 'idempotency-key': `${run}-${number}` },
      };
    },
  };
}

async function drive(load: Load): Promise<LoadResult> {
  const { url, clients: connections, seconds: duration, rate } = load;
  const latencies: number[] = [];
  const refusals: number[] = [];
  let withoutRetryAfter = 0;
  const errors: Record<string, number> = {};
  const failed = (what: string, count = 1) => {
    errors[what] = (errors[what] ?? 0) + count;
  };
  const started = performance.now();
  const options: autocannon.Options = {
    ...{ url, connections, duration, requests: [requestsOf(load)] },
    ...(rate && { overallRate: rate }),
    setupClient: (client) => {
      // The types name the headers alone; the parser gives all of the answer's head.
      client.on('headers', (head) => {
        const { statusCode, headers } = head as unknown as { statusCode: number; headers: string[] };
        if (statusCode === 503 && !headers.some((name) => /^retry-after$/i.test(name))) withoutRetryAfter++;
      });
    },
  };
  const result = await new Promise<autocannon.Result>((resolve, reject) => {
    const instance = autocannon(options, (error: Error | null, done) => (error ? reject(error) : resolve(done)));
    instance.on('response', (_client, status, _bytes, latency_ms) => {
      if (status === 202) latencies.push(latency_ms);
      else if (status === 503) refusals.push(latency_ms);
      else failed(`status ${status}`);
    });
  });
  const seconds = (performance.now() - started) / 1000;
  if (result.errors > result.timeouts) failed('connection errors', result.errors - result.timeouts);
  if (result.timeouts > 0) failed('timeouts', result.timeouts);
  return {
    accepted: latencies.length,
    seconds,
    p50_ms: quantile(latencies, 0.5),
    p99_ms: quantile(latencies, 0.99),
    max_ms: quantile(latencies, 1),
    refused: {
      count: refusals.length,
      withoutRetryAfter,
      p50_ms: quantile(refusals, 0.5),
      p99_ms: quantile(refusals, 0.99),
      max_ms: quantile(refusals, 1),
    },
    errors,
  };
}

process.once('message', (load: Load) => {
  void drive(load).then((measured) => process.send?.(measured, () => process.disconnect()));
});
