import typia from 'typia';
import { LIMITS } from '../../browser-pool/contract/limits.js';
import type * as contract from '../../browser-pool/contract/sending.js';
import type { FieldError } from '../../storage/model/errors.js';
import { isPgSafeJson, PG_SAFE_JSON } from '../../storage/postgres/pg-safe-values.js';
import { downloadFile } from '../simulated/files.js';
import { sendInvitation } from '../simulated/invitations.js';
import * as simulated from '../simulated/sending.js';
import { defineCapability } from './capability.js';
import { CONVERSATION_ID, HASH_ID } from './example-values.js';
import { refineUrl } from './file-url.js';
import { exactlyOne, hasContent, refuse } from './rules.js';

const oneDestination = (input: contract.Destination) =>
  exactlyOne({ ...input }, ['conversation_id', 'recipient_actor_id']);

function refineMessage(input: contract.MessageSendInput): FieldError[] {
  const errors = oneDestination(input);
  const content = input.render_content_unions ?? [];
  if (!hasContent(input.body) && content.length === 0) {
    errors.push(...refuse('$input.body', 'nonblank text, unless there is render content'));
  }
  content.forEach((part, i) => {
    if (Object.keys(part).length === 0)
      errors.push(...refuse(`$input.render_content_unions[${i}]`, 'a nonempty object'));
  });
  if (!isPgSafeJson(content)) {
    errors.push(...refuse('$input.render_content_unions', PG_SAFE_JSON));
  } else if (content.length > 0 && Buffer.byteLength(JSON.stringify(content)) > LIMITS.render_content_bytes) {
    errors.push(...refuse('$input.render_content_unions', `at most ${LIMITS.render_content_bytes} bytes in all`));
  }
  return errors;
}

/** Decoded size of a padded base64 text, or undefined for any other text. Reads it once and copies nothing. */
function decodedBytes(base64: string): number | undefined {
  if (base64.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(base64)) return undefined;
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0;
  return (base64.length / 4) * 3 - padding;
}

function refineAttachment(input: contract.AttachmentSendInput): FieldError[] {
  const errors = oneDestination(input);
  const bytes = decodedBytes(input.data_base64);
  if (bytes === undefined || bytes < 1 || bytes > LIMITS.attachment_bytes) {
    errors.push(...refuse('$input.data_base64', `base64 of 1-${LIMITS.attachment_bytes} bytes`));
  }
  return errors;
}

export const messageSend = defineCapability<contract.SendMessage>({
  name: 'social.message.send',
  summary: `Sends a message to exactly one of \`conversation_id\` and \`recipient_actor_id\`: nonblank text, render content (${LIMITS.render_content_bytes} bytes in all), or both.`,
  kind: 'write',
  send: true,
  needs: 'session',
  sealed: true,
  validate: typia.createValidateEquals<contract.MessageSendInput>(),
  refine: refineMessage,
  secretInputs: ['body', 'render_content_unions'],
  sought: ({ body = '', render_content_unions = [], ...to }) => {
    return { kind: 'message', to, body, content: render_content_unions };
  },
  schemas: typia.json.schemas<[contract.MessageSendInput, contract.MessageSendResult]>(),
  example: {
    input: { recipient_actor_id: HASH_ID, body: 'Hello Grace' },
    result: {
      provider_acknowledged: true,
      destination: { recipient_actor_id: HASH_ID },
      message_id: 'urn:social:message:2',
      conversation_id: CONVERSATION_ID,
      delivered_at: 1_790_000_000_000,
      state_revision: 1,
    },
  },
  simulated: simulated.sendMessage,
});

export const invitationSend = defineCapability<contract.SendInvitation, contract.InvitationSendInput>({
  name: 'social.invitation.send',
  summary: 'Invites a person to connect. An acknowledgement is not always a sent invitation: look at `code`.',
  kind: 'write',
  send: true,
  needs: 'session',
  sealed: true,
  validate: typia.createValidateEquals<contract.InvitationSendInput>(),
  secretInputs: ['message'],
  sought: ({ recipient_actor_id }) => ({ kind: 'invitation', recipient_actor_id }),
  schemas: typia.json.schemas<[contract.InvitationSendInput, contract.InvitationSendResult]>(),
  example: {
    input: { recipient_actor_id: HASH_ID, message: 'Shall we connect?' },
    result: {
      recipient_actor_id: HASH_ID,
      code: 'sent',
      message: 'Invitation sent',
      provider_acknowledged: true,
      state_revision: 1,
    },
  },
  simulated: sendInvitation,
});

const attachmentSend = defineCapability<contract.SendAttachment>({
  name: 'social.attachment.send',
  summary: `Sends a file of up to ${LIMITS.attachment_bytes} bytes to exactly one of \`conversation_id\` and \`recipient_actor_id\`.`,
  kind: 'write',
  send: true,
  needs: 'session',
  sealed: true,
  validate: typia.createValidateEquals<contract.AttachmentSendInput>(),
  refine: refineAttachment,
  secretInputs: ['body', 'data_base64'],
  sought: ({ conversation_id, recipient_actor_id, filename, data_base64, body = '' }) => ({
    kind: 'attachment',
    to: {
      ...(conversation_id !== undefined && { conversation_id }),
      ...(recipient_actor_id !== undefined && { recipient_actor_id }),
    },
    body,
    filename,
    size: Buffer.byteLength(data_base64, 'base64'),
  }),
  bounds: {
    data_base64: { contentEncoding: 'base64', maxLength: Math.ceil(LIMITS.attachment_bytes / 3) * 4 },
  },
  schemas: typia.json.schemas<[contract.AttachmentSendInput, contract.AttachmentSendResult]>(),
  example: {
    input: {
      conversation_id: CONVERSATION_ID,
      filename: 'notes.txt',
      content_type: 'text/plain',
      data_base64: 'SGVsbG8=',
    },
    result: {
      provider_acknowledged: true,
      destination: { conversation_id: CONVERSATION_ID },
      message_id: 'urn:social:message:3',
      state_revision: 1,
    },
  },
  simulated: simulated.sendAttachment,
});

const fileDownload = defineCapability<contract.DownloadFile>({
  name: 'social.file.download',
  summary: "Fetches a file over HTTPS from the provider's own domains.",
  kind: 'read',
  send: false,
  needs: 'session',
  sealed: false,
  storesFile: true,
  validate: typia.createValidateEquals<contract.FileDownloadInput>(),
  refine: refineUrl,
  secretInputs: ['url'],
  schemas: typia.json.schemas<[contract.FileDownloadInput, contract.FileDownloadResult]>(),
  example: {
    input: { url: 'https://files.social.test/notes.txt' },
    result: { content_type: 'text/plain', data_base64: 'SGVsbG8=', size: 5, state_revision: 1 },
  },
  simulated: downloadFile,
});

/** Contract: "Sending and files". */
export const sending = [messageSend, invitationSend, attachmentSend, fileDownload] as const;
