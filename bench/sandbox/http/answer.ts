import type { ServerResponse } from 'node:http';

/** The answer to a request. `stream` keeps the response open and writes to it itself. */
export type Answer =
  | { status: number; headers: Record<string, string>; body: string | Buffer }
  | { stream: (response: ServerResponse) => void };

/** A success of a JSON endpoint. */
export function json(body: { data: unknown } & Record<string, unknown>, status = 200): Answer {
  return jsonBody(status, body);
}

/** A refusal of a JSON endpoint, in the one shape they all have. */
export function refusal(status: number, code: string, message: string): Answer {
  const answer = jsonBody(status, { error: { status, code, message } });
  if ('headers' in answer && status === 429) answer.headers['retry-after'] = '30';
  return answer;
}

function jsonBody(status: number, body: unknown): Answer {
  return { status, headers: { 'content-type': 'application/json; charset=utf-8' }, body: JSON.stringify(body) };
}

export function html(status: number, body: string): Answer {
  return { status, headers: { 'content-type': 'text/html; charset=utf-8' }, body };
}

export function redirect(status: 301 | 302 | 303, location: string): Answer {
  return { status, headers: { location }, body: '' };
}

/** Thrown by a handler that refuses; becomes the refusal of a JSON endpoint. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

export function badRequest(message: string): Refused {
  return new Refused(400, 'bad_request', message);
}

export function notFound(what: string): Refused {
  return new Refused(404, 'not_found', `There is no such ${what}.`);
}
