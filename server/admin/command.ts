import { CommanderError } from 'commander';
import { ConfigError } from '../start/config.js';
import { Failure } from './answer.js';
import { adminProgram } from './program.js';

/**
 * The operator's command line (CLI-1): one JSON object on stdout, status 0; `doctor` has status 1 where a start would be refused. An error is one line on stderr: status 2
 * when the command or the environment is wrong, 1 when the work failed.
 */
export async function runCommand(): Promise<void> {
  process.exitCode = await answered();
}

/** The exit status. */
async function answered(): Promise<number> {
  try {
    const { text, status } = await adminProgram(process.env, process.argv.slice(2));
    process.stdout.write(`${text}\n`);
    return status;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    process.stderr.write(`${lineOf(error)}\n`);
    return error instanceof CommanderError || error instanceof ConfigError ? 2 : 1;
  }
}

function lineOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof Failure || error instanceof ConfigError) return error.message;
  if (error instanceof CommanderError) return error.message.replace(/^error: /, '');
  // A refused connection to both addresses of a name is an AggregateError without a message of its own.
  const text = error.message || (error instanceof AggregateError && String(error.errors[0])) || error.name;
  return text.replace(/\s*\n\s*/g, ' ');
}
