import { unexpectedAnswer } from '../../failures.js';
import type { Program, ProgramOutcome, ProgramRun } from '../../program.js';
import { Endpoints } from '../access/endpoints.js';
import { isUpload } from '../site/answers.js';
import type { Site } from '../site/site.js';
import { type Destination, deliver } from './sending.js';

/** Programs of the family "attachments": one file to somebody. */
export function attachmentPrograms(site: Site): [string, Program][] {
  return [['social.attachment.send', (run) => sendAttachment(run, site)]];
}

interface AttachmentInput extends Destination {
  filename: string;
  content_type: string;
  data_base64: string;
  body?: string;
}

/**
 * Contract: social.attachment.send. Nobody sees an upload until a message carries it, so the boundary stands between the
 * two: a lost upload sends nothing.
 */
async function sendAttachment(run: ProgramRun, site: Site): Promise<ProgramOutcome> {
  const input = run.input as Partial<AttachmentInput> as AttachmentInput;
  if (input.recipient_actor_id !== undefined && input.recipient_actor_id === run.actorId) {
    return { skipped: 'self_target' };
  }
  const endpoints = await Endpoints.open(run, site);
  const bytes = Buffer.from(input.data_base64, 'base64');
  const headers = { 'content-type': input.content_type, [site.fileNameHeader]: encodeURIComponent(input.filename) };
  const { data } = await endpoints.upload(site.paths.attachments, bytes, headers, isUpload);
  if (data.size !== bytes.length) throw unexpectedAnswer('answer');
  return deliver(run, site, endpoints, input, { body: input.body ?? '', attachments: [data.urn] });
}
