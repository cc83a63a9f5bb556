import type { ProgramRun, Programs } from '../../program.js';
import type { Site } from '../site/site.js';
import { attachmentPrograms } from './attachments.js';
import { conversationPrograms } from './conversations.js';
import { directoryPrograms } from './directory.js';
import { discoveryPrograms } from './discovery.js';
import { filePrograms } from './files.js';
import { identityPrograms } from './identity.js';
import { invitationPrograms } from './invitations.js';
import { jobPrograms } from './jobs.js';
import { lookProgram } from './look.js';
import { profilePrograms } from './profiles.js';
import { recruiterPrograms } from './recruiter.js';
import { recruiterSearchPrograms } from './recruiter-search.js';
import { sendingPrograms } from './sending.js';
import { sessionPrograms } from './session.js';
import { typeaheadPrograms } from './typeahead.js';

const PROGRAMS = [
  ...sessionPrograms,
  ...identityPrograms,
  ...profilePrograms,
  ...directoryPrograms,
  ...typeaheadPrograms,
  ...discoveryPrograms,
  ...jobPrograms,
  ...recruiterPrograms,
  ...recruiterSearchPrograms,
  ...conversationPrograms,
  ...sendingPrograms,
  ...attachmentPrograms,
  ...invitationPrograms,
  ...filePrograms,
];

/** A capability without a page program does not compile: its record's name must be one of these. */
export type ProgramName = (typeof PROGRAMS)[number]['name'];

/** Every page program for this site, by capability name, and the look, which is of none. */
export function socialPrograms(site: Site): Programs {
  return new Map(
    [...PROGRAMS, lookProgram].map(({ name, run, usesPage }) => [
      name,
      Object.assign((given: ProgramRun) => run(given, site), { usesPage }),
    ]),
  );
}
