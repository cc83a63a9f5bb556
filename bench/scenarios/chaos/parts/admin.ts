import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

/**
 * Runs a command of the `admin.js` beside this `main.js` with these variables, as an operator does, and gives its answer. The database
 * has that version's schema then. Throws with the command's line when it fails.
 */
export async function admin(
  program: string,
  env: Record<string, string>,
  ...command: string[]
): Promise<Record<string, unknown>> {
  const args = [join(dirname(program), 'admin.js'), ...command];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: { PATH: process.env.PATH, ...env } });
  return JSON.parse(stdout);
}
