import { appendFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { startReceiver } from '../../../kit/receiver.js';
import { SeededRandom } from '../../../sandbox/data/seeded-random.js';
import { LIMITS } from '../limits.js';

/** A receiver of callbacks that can be late and refuse, run as a process that can be killed. */
export interface ReceiverOrder {
  host: string;
  port: number;
  key: string;
  cert: string;
  secret: string;
  /** Gets a line a callback (`CallbackRecord`). */
  logFile: string;
}

export type ReceiverMood = 'well' | 'late' | 'refusing';

const random = new SeededRandom('receiver');
let mood: ReceiverMood = 'well';

async function start({ logFile, ...identity }: ReceiverOrder): Promise<void> {
  const origin = `https://${identity.host}:${identity.port}`;
  await startReceiver({
    ...identity,
    answer: ({ eventId, deliveryId, event, verified }, response) => {
      const status = mood === 'refusing' ? 500 : verified ? 200 : 401;
      // Before the answer: what the sender was told must not be missing here.
      const record = {
        receiver: origin,
        event_id: eventId,
        delivery_id: deliveryId,
        connection_id: String(event?.connection_id ?? ''),
        at: Date.now(),
        status,
        signature_valid: verified,
      };
      appendFileSync(logFile, `${JSON.stringify(record)}\n`);
      if (mood === 'late') drip(response, status);
      else response.writeHead(status).end();
    },
  });
  process.send?.('listening');
}

/** Answers a byte at a time. */
function drip(response: ServerResponse, status: number): void {
  const bytes = random.between(2, 6);
  let sent = 0;
  const timer = setInterval(() => {
    if (sent === 0) response.writeHead(status);
    if (sent++ < bytes && !response.destroyed) response.write('.');
    else {
      clearInterval(timer);
      response.end();
    }
  }, LIMITS.late_answer_ms / 6);
}

process.on('message', (message: ReceiverOrder | { mood: ReceiverMood }) => {
  if ('mood' in message) mood = message.mood;
  else void start(message);
});
process.once('disconnect', () => process.exit());
