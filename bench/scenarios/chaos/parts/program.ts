import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { InvalidArgumentError } from 'commander';

/** The service's process of this version. */
export const PROGRAM = fileURLToPath(new URL('../../../../server/main.js', import.meta.url));

/** The service's `main.js` in a checkout; without one, this version's. Throws InvalidArgumentError, which names the option, when it is not built. */
export function programOf(option: string, checkout: string): string {
  if (checkout === '') return PROGRAM;
  const program = resolve(checkout, 'dist/server/main.js');
  if (existsSync(program)) return program;
  const line = `${option} ${checkout}: it has no dist/server/main.js; run npm install and npm run build in it`;
  throw new InvalidArgumentError(line);
}
