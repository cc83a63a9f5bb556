import { type Logger, pino } from 'pino';
import { LIMITS } from './limits.js';
import { secretNames } from './secrets/secret-names.js';

export type { Logger };

export interface LogOptions {
  level: string;
  /** `json`: one object a line; `pretty`: for a terminal. */
  format: 'json' | 'pretty';
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

/** The logger of one thread. Writes to stderr: stdout belongs to the ready line and to commands' answers. */
export function createLogger(options: LogOptions, base: Record<string, unknown>): Logger {
  const paths = secretNames('logs').flatMap((name) => [name, `*.${name}`, `*.*.${name}`]);
  return pino(
    { level: options.level, base, serializers: { err: errorFields }, redact: { paths, censor: '[redacted]' } },
    options.format === 'json' ? pino.destination({ fd: 2, sync: true }) : prettyDestination(),
  );
}

function prettyDestination() {
  return pino.transport({
    target: 'pino-pretty',
    options: { destination: 2, colorize: process.stderr.isTTY, ignore: 'pid,hostname', singleLine: true },
  });
}
