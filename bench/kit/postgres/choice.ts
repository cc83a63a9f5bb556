import { type PostgresVersion, SUPPORTED_VERSIONS } from './binaries.js';

/** The database of a run: the embedded one, or a server of its own of this version, with that version's default settings. */
export type DatabaseChoice = 'embedded' | PostgresVersion;

/** What the variable `DATABASE` asks for; absent, the embedded one. Throws one line for anything else. */
export function databaseChoice(value = process.env.DATABASE): DatabaseChoice {
  if (value === undefined || value === '' || value === 'embedded') return 'embedded';
  const version = SUPPORTED_VERSIONS.find((one) => String(one) === value);
  if (!version) throw new Error(`DATABASE takes embedded, ${SUPPORTED_VERSIONS.join(', ')}: ${JSON.stringify(value)}`);
  return version;
}
