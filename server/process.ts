import { createLogger, type Logger } from '../storage/log.js';
import { forgetClientVariables } from '../storage/postgres/database-environment.js';
import { UnknownBinary } from './http/binaries.js';
import type { Parts } from './service.js';
import { banner, readyLine } from './start/banner.js';
import { ConfigError, readConfig } from './start/config.js';
import { requireDataDir } from './start/data-dir.js';
import { ensureDemoKey, withDemoReceiver } from './start/first-run.js';
import { launchStanding } from './start/launched-database.js';
import { VERSION } from './start/version.js';

/**
 * The service's process: `npm start`. A service that cannot start ends it with one line that says what to do, status 2 for
 * a setting or a front end that is not the recorded one, and 1 for the rest; SIGTERM and SIGINT stop the service and end it with status 0.
 */
export async function runService(): Promise<void> {
  const parts: Parts = {};
  let service: typeof import('./service.js') | undefined;
  let log: Logger | undefined;
  let stopping = false;
  const stopParts = async (told: Logger) => {
    if (service) await service.stopService(parts, told);
    else await parts.launched?.stop();
  };
  const shutDown = async (signal: string) => {
    if (stopping) return;
    stopping = true;
    log?.info({ signal }, 'stopping');
    if (log) await stopParts(log).catch((error) => log?.error({ err: error }, 'stopping failed'));
    process.exit(0);
  };
  const endWith = async (line: string, status: number) => {
    if (stopping) return;
    stopping = true;
    process.stderr.write(`${line}\n`);
    if (log) await stopParts(createLogger({ level: 'silent', format: 'json' }, {})).catch(() => {});
    process.exit(status);
  };
  process.on('SIGTERM', shutDown);
  process.on('SIGINT', shutDown);
  try {
    const settings = readConfig(process.env);
    if (settings.databaseUrl === null) forgetClientVariables();
    requireDataDir(settings);
    const config = await withDemoReceiver(settings);
    log = createLogger(config.log, { thread: 'main' });
    const fatal = (line: string) => void endWith(line, 1);
    log.info({ version: VERSION }, 'starting');
    parts.launched = launchStanding(config, log, fatal);
    await parts.launched?.begun; // the import blocks this thread
    service = await import('./service.js'); // here, so that a front end that is refused is one line as well
    const { addresses, db } = await service.startService(config, log, parts, fatal);
    const demoKey = await ensureDemoKey(config, db);
    const announcement = config.announce === 'json' ? readyLine(addresses) : await banner(config, addresses, demoKey);
    if (!stopping) process.stdout.write(`${announcement}\n`);
  } catch (error) {
    await endWith(lineOf(error), error instanceof ConfigError || error instanceof UnknownBinary ? 2 : 1);
  }
}

function lineOf(error: unknown): string {
  return error instanceof Error ? error.message.replace(/\s*\n\s*/g, ' ') : String(error);
}
