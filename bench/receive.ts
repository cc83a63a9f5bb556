import { ConfigError, readConfig } from '../server/start/config.js';
import { demoReceiver } from '../server/start/demo-receiver.js';
import { type Callback, startReceiver } from './receiver.js';

/** `npm run receiver`: shows the callbacks of a service that runs on the same DATA_DIR, until Ctrl-C. */
async function main(): Promise<void> {
  const { dataDir } = readConfig(process.env);
  const identity = await demoReceiver(dataDir);
  const receiver = await startReceiver({ ...identity, onCallback: show });
  process.stdout.write(`receiving at ${receiver.url}, for subscriptions with the secret ${identity.secret}\n`);
  process.once('SIGINT', () => void receiver.stop());
  process.once('SIGTERM', () => void receiver.stop());
}

function show({ verified, eventId, deliveryId, event }: Callback): void {
  const line = verified
    ? `verified ${JSON.stringify(event)}`
    : `refused: the signature of event ${eventId} is not ours`;
  process.stdout.write(`${line} (delivery ${deliveryId})\n`);
}

await main().catch((error: Error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = error instanceof ConfigError ? 2 : 1;
});
