import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const FILE = join(import.meta.dirname, '../../../package.json');

/** The version of the service, which tags follow. */
export const VERSION = (JSON.parse(readFileSync(FILE, 'utf8')) as { version: string }).version;
