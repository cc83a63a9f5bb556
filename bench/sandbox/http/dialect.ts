import type { IncomingHttpHeaders } from 'node:http';
import type { Answer } from './answer.js';

/** A request as it came. */
export interface Received {
  method: string;
  /** Path and query. */
  url: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** What the site is called, and what it calls everything, towards one visitor. Handlers know the network's own words only. */
export interface Dialect {
  /** The request in the network's own words. What is no word of this dialect becomes nothing that the site knows. */
  heard(request: Received): Received;
  /** The answer in the words of this dialect. */
  said(answer: Answer): Answer;
  /** The same for a `Set-Cookie` line. */
  cookie(line: string): string;
  /** The same for a frame of the event stream. */
  frame(event: string, data: Record<string, unknown>): { event: string; data: unknown };
}

/** The network's own words. */
export const PLAIN: Dialect = {
  heard: (request) => request,
  said: (answer) => answer,
  cookie: (line) => line,
  frame: (event, data) => ({ event, data }),
};
