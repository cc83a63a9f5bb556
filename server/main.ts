import { createLogger, type Logger } from '../storage/log.js';
import { UnknownBinary } from './http/binaries.js';
import type { Parts } from './service.js';
import { banner, readyLine } from './start/banner.js';
import { ConfigError, readConfig } from './start/config.js';
import { ensureDemoKey, withDemoReceiver } from './start/first-run.js';

/**
 * The service's process: `npm start`. A service that cannot start ends it with one line that says what to do, status 2 for
 * a setting or a front end that is not the recorded one, and 1 for the rest; SIGTERM and SIGINT stop the service and end it with status 0.
 */
async function main(): Promise<void> {
  const parts: Parts = {};
  let service: typeof import('./service.js') | undefined;
  let log: Logger | undefined;
  let stopping = false;
  const shutDown = async (signal: string) => {
    if (stopping) return;
    stopping = true;
    log?.info({ signal }, 'stopping');
    if (log) await service?.stopService(parts, log).catch((error) => log?.error({ err: error }, 'stopping failed'));
    process.exit(0);
  };
  process.on('SIGTERM', shutDown);
  process.on('SIGINT', shutDown);
  try {
    requireNode();
    const config = await withDemoReceiver(readConfig(process.env));
    service = await import('./service.js'); // here, so that a front end that is refused is one line as well
    log = createLogger(config.log, { thread: 'main' });
    const { addresses, db } = await service.startService(config, log, parts);
    const demoKey = await ensureDemoKey(config, db);
    const announcement = config.announce === 'json' ? readyLine(addresses) : await banner(config, addresses, demoKey);
    if (!stopping) process.stdout.write(`${announcement}\n`);
  } catch (error) {
    if (stopping) return;
    stopping = true;
    process.stderr.write(`${lineOf(error)}\n`);
    if (log) await service?.stopService(parts, createLogger({ level: 'silent', format: 'json' }, {})).catch(() => {});
    process.exit(error instanceof ConfigError || error instanceof UnknownBinary ? 2 : 1);
  }
}

function requireNode(): void {
  if (Number(process.versions.node.split('.')[0]) >= 22) return;
  throw new ConfigError(`node is ${process.version}, it wants 22 or newer: use npm start, which brings its own`);
}

function lineOf(error: unknown): string {
  return error instanceof Error ? error.message.replace(/\s*\n\s*/g, ' ') : String(error);
}

await main();
