import type { tags } from 'typia';
import type { Base64, FileName, MediaType, MessageText, ProviderId, Text } from './fields.js';
import type { Signature } from './signature.js';

/** The three sends and file download (contract: "Sending and files"). */

export type SendMessage = Signature<'social.message.send', MessageSendInput, MessageSendResult>;
export type SendInvitation = Signature<'social.invitation.send', InvitationInTurn, InvitationRunResult>;
export type SendAttachment = Signature<'social.attachment.send', AttachmentSendInput, AttachmentSendResult>;
export type DownloadFile = Signature<'social.file.download', FileDownloadInput, FileRunResult>;

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

/** Exactly one of the two. */
export interface Destination {
  conversation_id?: string;
  recipient_actor_id?: string;
}

export type InvitationSendInput = { recipient_actor_id: ProviderId; message?: MessageText<1, 300> };

/** As it runs: only the compatibility route sets `return_original`, and only a page program has the provider's raw answer. */
export type InvitationInTurn = InvitationSendInput & { return_original?: boolean };

export interface InvitationSendResult {
  recipient_actor_id: string;
  /** An acknowledgement is not always a sent invitation: this code shows which. */
  code: string;
  message: string;
  provider_acknowledged: true;
  state_revision: number;
}

export type InvitationRunResult = InvitationSendResult & { original?: object };

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

/** As it runs: the bytes that a page program read are stored beside the operation (OPS-14), not in its result. */
export type FileRunResult = FileDownloadResult | Omit<FileDownloadResult, 'data_base64'>;
