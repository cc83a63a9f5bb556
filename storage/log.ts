import { type Logger, pino } from 'pino';
import { secretNames } from './secrets/secret-names.js';

export type { Logger };

export interface LogOptions {
  level: string;
  /** `json`: one object a line; `pretty`: for a terminal. */
  format: 'json' | 'pretty';
}

/** Characters of an error's message that a line keeps: Playwright's carry a browser's whole command line. */
const MESSAGE_CHARACTERS = 500;

/** An error without what libraries hang on it: pg's carry their whole client, keys included. */
function errorFields(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { message: String(error) };
  const { code, constraint } = error as Error & { code?: unknown; constraint?: unknown };
  return {
    type: error.name,
    message: error.message.slice(0, MESSAGE_CHARACTERS),
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
