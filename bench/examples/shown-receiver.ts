import { demoReceiver } from '../../server/start/demo-receiver.js';
import { ConfigError, readConfig } from '../../server/start/settings/config.js';
import { type Callback, startReceiver } from '../kit/receiver.js';

/** `npm run receiver`: shows the callbacks of a service that runs on the same DATA_DIR, until Ctrl-C. */
export async function runReceiver(): Promise<void> {
  await receive().catch((error: Error) => {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = error instanceof ConfigError ? 2 : 1;
  });
}

async function receive(): Promise<void> {
  const { dataDir } = readConfig(process.env);
  const identity = await demoReceiver(dataDir);
  const receiver = await startReceiver({ ...identity, onCallback: show });
  process.stdout.write(`receiving at ${receiver.url}, for subscriptions with the secret ${identity.secret}\n`);
  let stopping = false;
  const stop = () => {
    if (!stopping) void receiver.stop();
    stopping = true; // under npm Ctrl-C comes twice, from the terminal and from npm
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
}

function show({ verified, eventId, deliveryId, event }: Callback): void {
  const line = verified
    ? `verified ${JSON.stringify(event)}`
    : `refused: the signature of event ${eventId} is not ours`;
  process.stdout.write(`${line} (delivery ${deliveryId})\n`);
}
