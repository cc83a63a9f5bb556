import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { REGIONS } from './limits.js';

/** What stays the same from start to start: the service has stored these addresses and credentials. */
export interface Settings {
  seed: string;
  /** 0 before the first start. */
  controlPort: number;
  proxies: { region: string; port: number; username: string; password: string }[];
}

export function loadSettings(directory: string, seed: string): Settings {
  const file = join(directory, 'network.json');
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as Settings;
  const proxies = REGIONS.map((region) => ({
    region,
    port: 0,
    username: `region-${region.toLowerCase()}`,
    password: randomBytes(12).toString('base64url'),
  }));
  return { seed, controlPort: 0, proxies };
}

export function saveSettings(directory: string, settings: Settings): void {
  const file = join(directory, 'network.json');
  writeFileSync(`${file}.new`, `${JSON.stringify(settings, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}
