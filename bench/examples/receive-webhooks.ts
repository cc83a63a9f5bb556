import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { call, simulated } from './api.js';

/** A receiver of callbacks: it subscribes, asks for a test event, and shows what comes, each event once, until it is told to end. */

const { TLS_KEY_FILE = 'key.pem', TLS_CERT_FILE = 'cert.pem', HOST = '127.0.0.1', PORT = '8443' } = process.env;
const seen = new Set<string>();
// Chosen here, so that it is known before the first request comes.
const secret = randomBytes(32).toString('base64url');

const server = createServer({ key: readFileSync(TLS_KEY_FILE), cert: readFileSync(TLS_CERT_FILE) });
server.on('request', async (request, response) => {
  const body = await text(request).catch(() => '');
  if (!verified(body, request.headers as Record<string, string>)) return response.writeHead(401).end();
  const event = JSON.parse(body) as { id: string; type: string; data: object; challenge?: string };
  response.end(event.challenge); // At once: what is to be done with the event comes after.
  if (event.type === 'subscription.verification') return console.log('the address has proven itself');
  if (seen.has(event.id)) return console.log(`event ${event.id} again: dropped`);
  seen.add(event.id);
  console.log(`received ${event.type} ${JSON.stringify(event.data)}`);
});
await new Promise<void>((resolve) => server.listen(Number(PORT), HOST, resolve));

const connection = await simulated();
const subscription = await call<{ id: string }>('POST', `/v1/connections/${connection}/subscriptions`, {
  event_types: ['message_received'],
  secret,
  callback_url: process.env.CALLBACK_URL ?? `https://${HOST}:${(server.address() as AddressInfo).port}/events`,
});
const delivery = await call<{ id: string }>('POST', `/v1/subscriptions/${subscription.id}/test`);
console.log(`connection ${connection} is subscribed; delivery ${delivery.id} brings a test event`);
const message = { type: 'message_received', data: { message_body: 'Hello Ada' } };
await call('POST', `/v1/connections/${connection}/simulated-events`, message);

for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, end);

async function end(): Promise<void> {
  await call('PATCH', `/v1/subscriptions/${subscription.id}`, { active: false });
  console.log('the subscription is inactive');
  server.close().closeAllConnections();
}

/** Signed with our secret, or with the one before it for a day after a rotation, and at most five minutes old. */
function verified(body: string, headers: Record<string, string>): boolean {
  const timestamp = headers['x-cs-timestamp'] ?? '';
  const expected = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest();
  const signed = (headers['x-cs-signature'] ?? '').split(',').some((one) => {
    const given = Buffer.from(one.replace('v1=', ''), 'hex');
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
  return signed && Math.abs(Date.now() / 1000 - Number(timestamp)) <= 300;
}
