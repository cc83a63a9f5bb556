import type { Programs } from '../program.js';
import { conversationPrograms } from './conversations.js';
import { discoveryPrograms } from './discovery.js';
import { identityPrograms } from './identity.js';
import { sendingPrograms } from './sending.js';
import { sessionPrograms } from './session.js';
import type { Site } from './site.js';

/** Every page program there is for this site, by capability name. A family is one file; each is joined here. */
export function socialPrograms(site: Site): Programs {
  return new Map([
    ...sessionPrograms(site),
    ...identityPrograms(site),
    ...discoveryPrograms(site),
    ...conversationPrograms(site),
    ...sendingPrograms(site),
  ]);
}
