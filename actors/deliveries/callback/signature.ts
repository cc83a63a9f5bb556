import { createHmac } from 'node:crypto';

/** What a callback is signed over, and with which secrets. */
export interface Signing {
  eventId: string;
  deliveryId: string;
  /** The client's own id of the connection (CONN-19). */
  reference?: string | null;
  /** The raw bytes of the request's body. */
  body: Buffer;
  /** When this attempt starts; a receiver refuses stale timestamps. */
  at: Date;
  /** The subscription's secret and, each for a day after its rotation, those before it (EVT-12). Newest first. */
  secrets: readonly string[];
}

/**
 * The headers of one attempt (contract: "Events"; EVT-3, EVT-4, EVT-12). `X-CS-Signature` is HMAC-SHA256 over the
 * timestamp, a period and the body; the same request carries Standard Webhooks' three headers, so that a stock
 * verifier with `whsec_` + base64 of the secret accepts it. The key is the secret's UTF-8 bytes in both.
 */
export function callbackHeaders({
  eventId,
  deliveryId,
  reference = null,
  body,
  at,
  secrets,
}: Signing): Record<string, string> {
  const timestamp = String(Math.floor(at.getTime() / 1000));
  const hmac = (secret: string, prefix: string) => createHmac('sha256', secret).update(prefix).update(body);
  return {
    'Content-Type': 'application/json',
    'User-Agent': 'connection-service',
    'X-CS-Event-Id': eventId,
    'X-CS-Delivery-Id': deliveryId,
    ...(reference !== null && { 'X-CS-Connection-Reference': reference }),
    'X-CS-Timestamp': timestamp,
    'X-CS-Signature': secrets.map((secret) => `v1=${hmac(secret, `${timestamp}.`).digest('hex')}`).join(','),
    'webhook-id': eventId,
    'webhook-timestamp': timestamp,
    'webhook-signature': secrets
      .map((secret) => `v1,${hmac(secret, `${eventId}.${timestamp}.`).digest('base64')}`)
      .join(' '),
  };
}
