import { readFile } from 'node:fs/promises';
import typia, { TypeGuardError } from 'typia';
import type { Site } from '../../../browser-pool/social/site/site.js';
import { socialSite } from '../../../browser-pool/social/site/stand-in.js';
import type { NewProxy } from '../../../storage/connections/proxies.js';
import { fieldError } from '../../../storage/model/field-errors.js';
import { ConfigError } from '../settings/config.js';

/** A stand-in network that several nodes share, as it describes itself in `provider.json` (bench/sandbox/README.md). */
export interface SharedNetwork {
  control_url: string;
  origin: string;
  /** PEM. */
  ca: string;
  spki: string;
  proxies: NewProxy[];
}

/** What the file of PROVIDER describes. */
export interface DescribedProvider {
  site: Site;
  /** Null: the site is the operator's own, who puts its proxies in place. */
  network: SharedNetwork | null;
}

/** The operator's own description of a site, or that of a shared stand-in network. @throws ConfigError when the file is neither */
export async function describedProvider(file: string): Promise<DescribedProvider> {
  try {
    const described: unknown = JSON.parse(await readFile(file, 'utf8'));
    if (typeof described !== 'object' || described === null || !('stand_in_network' in described)) {
      return { site: typia.assert<Site>(described), network: null };
    }
    const { stand_in_network: network } = typia.assert<{ stand_in_network: SharedNetwork }>(described);
    const { origin, ca, spki } = network;
    return { site: socialSite({ origin, ca, spki }), network };
  } catch (error) {
    const wrong = error instanceof TypeGuardError ? faultOf(error) : (error as Error).message;
    throw new ConfigError(`PROVIDER has ${JSON.stringify(file)} (${wrong}), it wants a site description`);
  }
}

function faultOf({ path = '$input', expected, value }: TypeGuardError): string {
  const fault = fieldError({ path, expected, value }, { root: 'site', secret: true });
  return `${fault.path} wants ${fault.expected}`;
}
