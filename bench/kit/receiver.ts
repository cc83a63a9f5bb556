import { createHmac, timingSafeEqual } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { type Received, type SigningIdentity, serveCallbacks } from './callback-server.js';
import { LIMITS } from './limits.js';

/**
 * An HTTPS receiver of callbacks, as a customer would write it (contract: "Events"): checks the signature in constant
 * time, refuses stale timestamps, answers at once and deals with the event afterwards. It wants callbacks: it answers a challenge
 * (EVT-18).
 */
export interface ReceiverOptions extends SigningIdentity {
  onCallback?: (callback: Callback) => void;
  /** The status to answer a verified callback with; 204 by default. */
  respond?: (callback: Callback) => number;
  /** Answers every callback, verified or not, instead of the receiver. */
  answer?: (callback: Callback, response: ServerResponse) => void;
}

/** A connection is idle for as long as Node's own servers let it be: a sender has to bear that it is closed then. */
const BOUNDS = { most_bytes: LIMITS.callback_body_bytes, keepAlive_ms: 5_000 };

export interface Callback {
  verified: boolean;
  eventId: string;
  deliveryId: string;
  /** The JSON body of a verified callback; null otherwise. */
  event: Record<string, unknown> | null;
}

export interface Receiver {
  /** For `callback_url`. */
  url: string;
  stop(): Promise<void>;
}

export async function startReceiver(options: ReceiverOptions): Promise<Receiver> {
  const answer = (received: Received, response: ServerResponse) => {
    const callback = read(received, options.secret);
    if (options.answer) options.answer(callback, response);
    else if (callback.event?.type === 'subscription.verification') response.end(String(callback.event.challenge));
    else response.writeHead(callback.verified ? (options.respond?.(callback) ?? 204) : 401).end();
    options.onCallback?.(callback);
  };
  const { url, stop } = await serveCallbacks(options, answer, BOUNDS);
  return { url: `${url}/callback`, stop };
}

function read({ headers, body }: Received, secret: string): Callback {
  const header = (name: string) => String(headers[name] ?? '');
  const timestamp = header('x-cs-timestamp');
  const fresh = Math.abs(Date.now() / 1000 - Number(timestamp)) <= LIMITS.callback_age_seconds;
  const verified = fresh && signed(header('x-cs-signature'), timestamp, body, secret);
  return {
    verified,
    eventId: header('x-cs-event-id'),
    deliveryId: header('x-cs-delivery-id'),
    event: verified ? (JSON.parse(body.toString('utf8')) as Record<string, unknown>) : null,
  };
}

/** True when one of the signatures is ours: two stand in the header while a secret is being rotated (EVT-12). */
function signed(header: string, timestamp: string, body: Buffer, secret: string): boolean {
  const expected = createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest();
  return header.split(',').some((part) => {
    const given = Buffer.from(part.trim().replace(/^v1=/, ''), 'hex');
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}
