import { endThreads, openThreadPools } from '../actors/node/thread-pools.js';
import { createLogger, type Logger } from '../storage/log/log.js';
import { forgetClientVariables } from '../storage/postgres/database-environment.js';
import { UnknownBinary } from './http/wire/binaries.js';
import { banner, readyLine } from './start/banner.js';
import { ensureDemoKey, withDemoReceiver } from './start/first-run.js';
import { launchStanding } from './start/launched-database.js';
import { Services } from './start/services.js';
import { ConfigError, readConfig } from './start/settings/config.js';
import { requireDataDir } from './start/settings/data-dir.js';
import { VERSION } from './start/version.js';

/**
 * The service's process: `npm start`. A service that cannot start ends it with one line that says what to do, status 2 for
 * a setting or a front end that is not the recorded one, and 1 for the rest; SIGTERM and SIGINT stop the service and end it with status 0.
 */
export async function runService(): Promise<void> {
  const services = new Services();
  let log: Logger | undefined;
  let stopping = false;
  const shutDown = async (signal: string) => {
    if (stopping) return;
    stopping = true;
    log?.info({ signal }, 'stopping');
    if (log) await services.stop(log);
    process.exit(0);
  };
  const endWith = async (line: string, status: number) => {
    if (stopping) return;
    stopping = true;
    process.stderr.write(`${line}\n`);
    if (log) await services.stop(createLogger({ level: 'silent', format: 'json' }, {}));
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
    const launched = launchStanding(config, log, fatal);
    services.add('embedded database', () => launched?.stop());
    const pools = openThreadPools(config);
    services.add('threads', () => endThreads(pools.actors, pools.browsers));
    await launched?.begun; // the import blocks this thread
    const { startService } = await import('./service.js'); // here, so that a front end that is refused is one line as well
    const { addresses, db } = await startService({ config, log, services, launched, pools, fatal });
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
