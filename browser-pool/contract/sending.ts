import type { tags } from 'typia';
import type { Base64, FileName, MediaType, MessageText, PersonId, ProviderId, Recipient, Text } from './fields.js';
import type { Signature } from './signature.js';

/** The three sends and file download (contract: "Sending and files"). */

export type SendMessage = Signature<'social.message.send', MessageSendInput, MessageSendResult>;
export type SendInvitation = Signature<'social.invitation.send', InvitationInTurn, InvitationRunResult>;
export type SendAttachment = Signature<'social.attachment.send', AttachmentSendInput, AttachmentSendResult>;
export type DownloadFile = Signature<'social.file.download', FileDownloadInput, FileRunResult>;

/** A message to exactly one of `conversation_id` and `recipient_actor_id`. */
export type MessageSendInput = {
  /** Conversation to write to, as a conversation read gave it. */
  conversation_id?: ProviderId;
  /** Hash id of the person to write to. */
  recipient_actor_id?: Recipient;
  /** Text of the message, up to 2000 characters; it must not be blank unless there is render content. */
  body?: MessageText<0, 2000>;
  /** Up to five objects of rich content, 16 KiB of JSON in all, passed on to the provider as they are. */
  render_content_unions?: Record<string, unknown>[] & tags.MaxItems<5>;
};

/** The provider's acknowledgement of a message. */
export interface MessageSendResult {
  /** Always `true`: the provider took the message. */
  provider_acknowledged: true;
  /** Where the message was sent to, as the input named it. */
  destination: Destination;
  /** URN of the new message, null or absent when the provider does not name it. */
  message_id?: string | null;
  /** Conversation that the message stands in, null or absent when the provider does not name it. */
  conversation_id?: string | null;
  /** When the provider took it, in decimal milliseconds; null or absent when it does not say. */
  delivered_at?: number | null;
  /** Generation of the session that sent it. */
  state_revision: number;
}

/** Exactly one of the two. */
export interface Destination {
  /** Conversation that the input named. */
  conversation_id?: string;
  /** Hash id of the person that the input named. */
  recipient_actor_id?: PersonId;
}

/** An invitation to connect. */
export type InvitationSendInput = {
  /** Hash id of the person to invite. */
  recipient_actor_id: Recipient;
  /** Note that comes with the invitation, 1 to 300 characters. */
  message?: MessageText<1, 300>;
};

/** As it runs: only the compatibility route sets `return_original`, and only a page program has the provider's raw answer. */
export type InvitationInTurn = InvitationSendInput & { return_original?: boolean };

/** The provider's answer to an invitation. */
export interface InvitationSendResult {
  /** Hash id of the invited person. */
  recipient_actor_id: PersonId;
  /** The provider's code. An acknowledgement is not always a sent invitation: this code shows which. */
  code: string;
  /** The provider's words about it. */
  message: string;
  /** Always `true`: the provider answered. */
  provider_acknowledged: true;
  /** Generation of the session that sent it. */
  state_revision: number;
}

export type InvitationRunResult = InvitationSendResult & { original?: object };

/** A file to exactly one of `conversation_id` and `recipient_actor_id`. */
export type AttachmentSendInput = {
  /** Conversation to send to, as a conversation read gave it. */
  conversation_id?: ProviderId;
  /** Hash id of the person to send to. */
  recipient_actor_id?: Recipient;
  /** Name of the file, 1 to 255 characters without slashes. */
  filename: FileName;
  /** Media type of the file, such as `text/plain`. */
  content_type: MediaType;
  /** The file as padded base64, 1 to 1,000,000 bytes once decoded. */
  data_base64: Base64;
  /** Text that goes with the file, up to 2000 characters. */
  body?: MessageText<0, 2000>;
};

export type AttachmentSendResult = MessageSendResult;

/** Which file to fetch. */
export type FileDownloadInput = {
  /** HTTPS address on the provider's own domains, without credentials and port. */
  url: Text<1, 4096>;
};

/** The file. */
export interface FileDownloadResult {
  /** Media type that the provider gave it. */
  content_type: string;
  /** The file as padded base64. */
  data_base64: string;
  /** Size of the decoded file in bytes. */
  size: number;
  /** Generation of the session that fetched it. */
  state_revision: number;
}

/** As it runs: the bytes that a page program read are stored beside the operation (OPS-14), not in its result. */
export type FileRunResult = FileDownloadResult | Omit<FileDownloadResult, 'data_base64'>;
