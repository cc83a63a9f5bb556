import type { SendAttachment } from '../../contract/sending.js';
import { unexpectedAnswer } from '../../failures.js';
import { Endpoints } from '../access/endpoints.js';
import { isUpload } from '../site/answers.js';
import { defineProgram } from './define.js';
import { deliver } from './sending.js';

/**
 * Contract: social.attachment.send. An upload is invisible until a message carries it, so the boundary stands between the
 * two: a lost upload sends nothing.
 */
const sendAttachment = defineProgram<SendAttachment>('social.attachment.send', async (run, site) => {
  const { input } = run;
  if (input.recipient_actor_id !== undefined && input.recipient_actor_id === run.actorId) {
    return { skipped: 'self_target' };
  }
  const endpoints = await Endpoints.open(run, site);
  const bytes = Buffer.from(input.data_base64, 'base64');
  const headers = { 'content-type': input.content_type, [site.fileNameHeader]: encodeURIComponent(input.filename) };
  const { data } = await endpoints.upload('attachments', bytes, headers, isUpload);
  if (data.size !== bytes.length) throw unexpectedAnswer('answer');
  return deliver(endpoints, input, { body: input.body ?? '', attachments: [data.urn] });
});

/** Sending a file. */
export const attachmentPrograms = [sendAttachment] as const;
