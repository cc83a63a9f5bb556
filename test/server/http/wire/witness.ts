import { pino } from 'pino';
import type { Test } from 'tap';
import { type EdgeUnderTest, startTestEdge } from '../../edge-fixture.js';
import { type Shape, shapes } from './smuggling-shapes.js';

/*
 * What a service has run of the shapes. Each request of a test has a mark in its header X-Request-Id, which the service's log repeats:
 * `first-`, `hidden-` and `last-` with the number of the shape, `neighbour-` of another client.
 */

export interface Ran {
  method: string;
  id: string;
  status: number | string;
}

/** The service, and each request that it answered or ran. */
export async function startWitness(t: Test): Promise<{ edge: EdgeUnderTest; ran: Ran[] }> {
  const ran: Ran[] = [];
  const write = (line: string) => {
    const { msg, method, request_id: id, status } = JSON.parse(line);
    if (msg === 'request') ran.push({ method, id, status });
  };
  const edge = await startTestEdge(t, { log: pino({ level: 'debug' }, { write }) });
  return { edge, ran };
}

/** Method and mark of each that is of this test. */
export function marked(list: { method: string; id?: string | undefined }[]): string[] {
  const own = list.filter(({ id }) => /^(first|hidden|last|neighbour)-/.test(id ?? ''));
  return own.map(({ method, id }) => `${method} ${id}`).sort();
}

/** All shapes, each followed by a request that ends its connection. */
export function markedShapes(edge: EdgeUnderTest): Shape[] {
  const common = `Host: x\r\nAuthorization: Bearer ${edge.key}\r\n`;
  const numbered = (number: number) =>
    shapes({
      head: `POST /v1/connections HTTP/1.1\r\n${common}X-Request-Id: first-${number}\r\n`,
      hidden: `DELETE /v1/connections/none HTTP/1.1\r\n${common}X-Request-Id: hidden-${number}\r\n\r\n`,
    });
  return numbered(0).map((_, number) => {
    const { what, bytes } = numbered(number)[number] as Shape;
    const last = `GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Request-Id: last-${number}\r\n\r\n`;
    return { what, bytes: bytes + last };
  });
}
