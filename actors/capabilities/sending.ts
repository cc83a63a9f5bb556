import typia, { type tags } from 'typia';
import {
  ATTACHMENT_BYTES,
  type Base64,
  type FileName,
  type MediaType,
  type MessageText,
  type ProviderId,
  RENDER_CONTENT_BYTES,
  type Text,
} from '../../browser-pool/contract/fields.js';
import type { FieldError } from '../../storage/model/errors.js';
import { STORABLE, storable } from '../../storage/postgres/pg-safe-values.js';
import { refineUrl } from './file-url.js';
import { type CatalogueEntry, exactlyOne, hasContent, refuse } from './rules.js';

/** The three sends and file download (contract: "Sending and files"). */

export type MessageSendInput = {
  conversation_id?: ProviderId;
  recipient_actor_id?: ProviderId;
  body?: MessageText<0, 2000>;
  render_content_unions?: Record<string, unknown>[] & tags.MaxItems<5>;
};
export interface MessageSendResult {
  provider_acknowledged: true;
  destination: Destination;
  message_id?: string | null;
  conversation_id?: string | null;
  delivered_at?: number | null;
  state_revision: number;
}
export interface Destination {
  conversation_id?: string;
  recipient_actor_id?: string;
}

export type InvitationSendInput = { recipient_actor_id: ProviderId; message?: MessageText<1, 300> };
export interface InvitationSendResult {
  recipient_actor_id: string;
  /** An acknowledgement is not always a sent invitation: this tells. */
  code: string;
  message: string;
  provider_acknowledged: true;
  state_revision: number;
}

export type AttachmentSendInput = {
  conversation_id?: ProviderId;
  recipient_actor_id?: ProviderId;
  filename: FileName;
  content_type: MediaType;
  data_base64: Base64;
  body?: MessageText<0, 2000>;
};
export type AttachmentSendResult = MessageSendResult;

export type FileDownloadInput = { url: Text<1, 4096> };
export interface FileDownloadResult {
  content_type: string;
  data_base64: string;
  /** Bytes, decoded. */
  size: number;
  state_revision: number;
}

const oneDestination = (input: Record<string, unknown>) => exactlyOne(input, ['conversation_id', 'recipient_actor_id']);

function refineMessage(input: Record<string, unknown>): FieldError[] {
  const errors = oneDestination(input);
  const content = Array.isArray(input.render_content_unions) ? input.render_content_unions : [];
  if (!hasContent(input.body) && content.length === 0) {
    errors.push(...refuse('$input.body', 'nonblank text, unless there is render content'));
  }
  content.forEach((part: object, i) => {
    if (Object.keys(part).length === 0)
      errors.push(...refuse(`$input.render_content_unions[${i}]`, 'a nonempty object'));
  });
  if (!storable(content)) {
    errors.push(...refuse('$input.render_content_unions', STORABLE));
  } else if (content.length > 0 && Buffer.byteLength(JSON.stringify(content)) > RENDER_CONTENT_BYTES) {
    errors.push(...refuse('$input.render_content_unions', `at most ${RENDER_CONTENT_BYTES} bytes in all`));
  }
  return errors;
}

/** Decoded size of a padded base64 text, or undefined when it is none. Looks at it once and copies nothing. */
function decodedBytes(base64: string): number | undefined {
  if (base64.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(base64)) return undefined;
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0;
  return (base64.length / 4) * 3 - padding;
}

function refineAttachment(input: Record<string, unknown>): FieldError[] {
  const errors = oneDestination(input);
  const bytes = decodedBytes(String(input.data_base64));
  if (bytes === undefined || bytes < 1 || bytes > ATTACHMENT_BYTES) {
    errors.push(...refuse('$input.data_base64', `base64 of 1-${ATTACHMENT_BYTES} bytes`));
  }
  return errors;
}

export const sending: readonly CatalogueEntry[] = [
  {
    name: 'social.message.send',
    family: 'sending',
    kind: 'write',
    send: true,
    needs: 'session',
    sealed: true,
    validate: typia.createValidateEquals<MessageSendInput>(),
    refine: refineMessage,
  },
  {
    name: 'social.invitation.send',
    family: 'sending',
    kind: 'write',
    send: true,
    needs: 'session',
    sealed: true,
    validate: typia.createValidateEquals<InvitationSendInput>(),
  },
  {
    name: 'social.attachment.send',
    family: 'sending',
    kind: 'write',
    send: true,
    needs: 'session',
    sealed: true,
    validate: typia.createValidateEquals<AttachmentSendInput>(),
    refine: refineAttachment,
  },
  {
    name: 'social.file.download',
    family: 'sending',
    kind: 'read',
    send: false,
    needs: 'session',
    sealed: false,
    storesFile: true,
    validate: typia.createValidateEquals<FileDownloadInput>(),
    refine: refineUrl,
  },
];
