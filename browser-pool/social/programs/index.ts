import type { Programs } from '../../program.js';
import type { Site } from '../site/site.js';
import { attachmentPrograms } from './attachments.js';
import { conversationPrograms } from './conversations.js';
import { directoryPrograms } from './directory.js';
import { discoveryPrograms } from './discovery.js';
import { filePrograms } from './files.js';
import { identityPrograms } from './identity.js';
import { invitationPrograms } from './invitations.js';
import { jobPrograms } from './jobs.js';
import { profilePrograms } from './profiles.js';
import { recruiterPrograms } from './recruiter.js';
import { recruiterSearchPrograms } from './recruiter-search.js';
import { sendingPrograms } from './sending.js';
import { sessionPrograms } from './session.js';
import { typeaheadPrograms } from './typeahead.js';

/** Every page program there is for this site, by capability name. A family is one file; each is joined here. */
export function socialPrograms(site: Site): Programs {
  return new Map([
    ...sessionPrograms(site),
    ...identityPrograms(site),
    ...profilePrograms(site),
    ...directoryPrograms(site),
    ...typeaheadPrograms(site),
    ...discoveryPrograms(site),
    ...jobPrograms(site),
    ...recruiterPrograms(site),
    ...recruiterSearchPrograms(site),
    ...conversationPrograms(site),
    ...sendingPrograms(site),
    ...attachmentPrograms(site),
    ...invitationPrograms(site),
    ...filePrograms(site),
  ]);
}
