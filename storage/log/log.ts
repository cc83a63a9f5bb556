import { createRequire } from 'node:module';
import { type Logger, pino } from 'pino';
import { LIMITS } from '../limits.js';
import { isUnanswered } from '../postgres/liveness.js';
import { bufferedDestination } from './log-destination.js';
import { secretNames } from './secret-names.js';

export type { Logger };

export interface LogOptions {
  level: string;
  /** `json`: one object a line; `pretty`: for a terminal. */
  format: 'json' | 'pretty';
  /** The share of the lines of requests and operations that went well (`LogLines`); absent: all of them. */
  sample?: number;
}

/** An error without what libraries attach to it: pg's errors carry their whole client, keys included. */
function errorFields(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { message: String(error) };
  const { code, constraint } = error as Error & { code?: unknown; constraint?: unknown };
  return {
    type: error.name,
    message: error.message.slice(0, LIMITS.error_message_characters),
    error_code: code,
    constraint,
    stack: error.stack
      ?.split('\n')
      .filter((line) => /^ {4}at /.test(line))
      .join('\n'),
    cause: error.cause === undefined ? undefined : errorFields(error.cause),
  };
}

/**
 * A line about a statement that the database did not answer is for `debug`: an outage has lines of its own, one at its begin and one at
 * its end (outages.ts), and would otherwise be told by everything that runs into it.
 */
function quietWhileAway(this: Logger, args: unknown[], method: pino.LogFn, level: number): void {
  const [fields] = args as [{ err?: unknown } | undefined];
  const quiet = level > pino.levels.values.debug! && level < pino.levels.values.fatal! && isUnanswered(fields?.err);
  const write = quiet ? this.debug : method;
  write.apply(this, args as Parameters<pino.LogFn>);
}

/** The logger of one thread. Writes to stderr: stdout belongs to the ready line and to commands' answers. */
export function createLogger(options: LogOptions, base: Record<string, unknown>): Logger {
  const paths = secretNames('logs').flatMap((name) => [name, `*.${name}`, `*.*.${name}`]);
  return pino(
    {
      ...{ level: options.level, base, serializers: { err: errorFields }, hooks: { logMethod: quietWhileAway } },
      redact: { paths, censor: '[redacted]' },
    },
    options.format === 'json' ? bufferedDestination() : prettyDestination(),
  );
}

function prettyDestination() {
  // The package itself: of a bundle it does not find the file that its thread runs.
  const { transport } = createRequire(import.meta.url)('pino') as typeof import('pino');
  return transport({
    target: 'pino-pretty',
    options: { destination: 2, colorize: process.stderr.isTTY, ignore: 'pid,hostname', singleLine: true },
  });
}
