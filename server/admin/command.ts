import { CommanderError } from 'commander';
import { ConfigError } from '../start/settings/config.js';
import { Failure } from './answer.js';
import { adminProgram } from './program.js';

/**
 * The operator's command line (CLI-1): one JSON object on stdout, status 0; `doctor` has status 1 where a start would be refused. An error is one line on stderr: status 2
 * when the command or the environment is wrong, 1 when the work failed.
 */
export async function runCommand(): Promise<void> {
  const { status, stdout, stderr } = await endOfCommand(process.env, process.argv.slice(2));
  process.stdout.write(stdout);
  process.stderr.write(stderr);
  process.exitCode = status;
}

/** What a command comes to, before anything of it is printed; only `--help` and `--version` print by themselves. */
export interface CommandEnd {
  status: number;
  stdout: string;
  stderr: string;
}

/** Runs the command of these arguments. Never rejects: what fails is the end of the command. */
export async function endOfCommand(env: NodeJS.ProcessEnv, argv: string[]): Promise<CommandEnd> {
  try {
    const { text, status } = await adminProgram(env, argv);
    return { status, stdout: `${text}\n`, stderr: '' };
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return { status: 0, stdout: '', stderr: '' };
    const status = error instanceof CommanderError || error instanceof ConfigError ? 2 : 1;
    return { status, stdout: '', stderr: `${lineOf(error)}\n` };
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
