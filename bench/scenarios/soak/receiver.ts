import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { FromReceiver, ToReceiver } from './messages.js';

/** The receiver of a soak's callbacks, as a process of its own: it answers 204 at once and counts, and keeps nothing of a callback. */
let accepted = 0;

const send = (message: FromReceiver) => process.send?.(message);

async function start(identity: { host: string; key: string; cert: string }): Promise<void> {
  const { host, key, cert } = identity;
  const server = createServer({ key, cert, keepAliveTimeout: 60_000 }, (request, response) => {
    request.resume().once('end', () => {
      accepted++;
      response.writeHead(204).end();
    });
  });
  server.listen(0, host);
  await once(server, 'listening');
  send({ type: 'listening', url: `https://${host}:${(server.address() as AddressInfo).port}` });
}

process.on('message', (message: ToReceiver) => {
  switch (message.type) {
    case 'start':
      void start(message);
      return;
    case 'count':
      send({ type: 'counted', accepted });
      return;
    default:
      message satisfies never;
  }
});
process.once('disconnect', () => process.exit());
