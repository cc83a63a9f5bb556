import { readFile } from 'node:fs/promises';
import typia, { TypeGuardError } from 'typia';
import type { Site } from '../../browser-pool/social/site/site.js';
import { socialSite } from '../../browser-pool/social/site/stand-in.js';
import { fieldError } from '../../storage/model/field-errors.js';
import { ConfigError } from './config.js';
import type { SandboxReady } from './sandbox-ready.js';

/** The stand-in network as the browser drives it. */
export async function sandboxSite({ origin, ca_file, spki }: SandboxReady): Promise<Site> {
  return socialSite({ origin, spki, ca: await readFile(ca_file, 'utf8') });
}

/** The operator's own description of a site. @throws ConfigError when the file is none */
export async function describedSite(file: string): Promise<Site> {
  try {
    return typia.json.assertParse<Site>(await readFile(file, 'utf8'));
  } catch (error) {
    const wrong = error instanceof TypeGuardError ? faultOf(error) : (error as Error).message;
    throw new ConfigError(`PROVIDER has ${JSON.stringify(file)} (${wrong}), it wants a site description`);
  }
}

function faultOf({ path = '$input', expected, value }: TypeGuardError): string {
  const fault = fieldError({ path, expected, value }, { root: 'site', secret: true });
  return `${fault.path} wants ${fault.expected}`;
}
