import { answering, type ReceiverIdentity, serveCallbacks } from '../../kit/callback-server.js';
import type { FromReceiver, ToReceiver } from './messages.js';

/** The receiver of a soak's callbacks, as a process of its own: it answers 204 at once and counts, and keeps nothing of a callback. */
let accepted = 0;

const send = (message: FromReceiver) => process.send?.(message);

async function start(identity: ReceiverIdentity): Promise<void> {
  const counted = () => accepted++;
  const { url } = await serveCallbacks(identity, answering(counted));
  send({ type: 'listening', url });
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
