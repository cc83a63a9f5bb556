import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A running network as services that did not start it find it: the file that they take as their PROVIDER. */
export interface Description {
  control_url: string;
  origin: string;
  /** PEM. */
  ca: string;
  spki: string;
  proxies: { region: string; url: string; username: string; password: string }[];
}

/** Writes the description into the network's directory, readable by its owner only: it holds the proxies' passwords. Gives the file. */
export function writeDescription(directory: string, description: Description): string {
  const file = join(directory, 'provider.json');
  writeFileSync(`${file}.new`, `${JSON.stringify({ stand_in_network: description }, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
  return file;
}
