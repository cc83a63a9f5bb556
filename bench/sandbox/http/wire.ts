import type { IncomingMessage, ServerResponse } from 'node:http';
import { LIMITS } from '../limits.js';
import type { Answer } from './answer.js';

/** Writes an answer, and the cookies that go with it. */
export function send(response: ServerResponse, answer: Answer, cookies: string[]): void {
  if (cookies.length > 0) response.setHeader('set-cookie', cookies);
  if ('stream' in answer) {
    answer.stream(response);
    return;
  }
  response.writeHead(answer.status, {
    'cache-control': 'no-store',
    ...answer.headers,
    'content-length': Buffer.byteLength(answer.body),
  });
  response.end(answer.body);
}

/** The whole body; null when it is larger than the site takes. */
export async function bodyOf(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= LIMITS.body_bytes) chunks.push(chunk);
  }
  return bytes > LIMITS.body_bytes ? null : Buffer.concat(chunks);
}
