import { isDeepStrictEqual } from 'node:util';
import { LIMITS } from './limits.js';
import type { Destination } from './sending.js';
import type { Signature } from './signature.js';

/**
 * A look at the place where a write would show, after its outcome stayed unknown (OPS-22). It only reads. Pages come newest first, and
 * a look goes back as far as the write can be, never further than `LIMITS.look_pages`.
 */

/** The name of the page program that makes it; no capability has it. */
export const LOOK_PROGRAM = 'look';

/** As the page program is given it and gives it back. */
export type LookForWrite = Signature<typeof LOOK_PROGRAM, { sought: Sought; since_ms: number }, Look>;

/** What a look is for, made of a write's input. */
export type Sought =
  | { kind: 'message'; to: Destination; body: string; content: Record<string, unknown>[] }
  | { kind: 'attachment'; to: Destination; body: string; filename: string; size: number }
  | { kind: 'invitation'; recipient_actor_id: string };

/** Something that looks as the write would: by its ids the caller tells it from what was sent otherwise. */
export type LookMatch = MessageMatch | AttachmentMatch | InvitationMatch;

/** A message with the same words. */
export interface MessageMatch {
  /** Always `message`. */
  kind: 'message';
  /** URN of the message. */
  message_urn: string;
  /** Conversation that it stands in. */
  conversation_id: string;
  /** When it was delivered, in decimal milliseconds. */
  delivered_at: number;
}

/** A message with a file of the same name and size. */
export interface AttachmentMatch extends Omit<MessageMatch, 'kind'> {
  /** Always `attachment`. */
  kind: 'attachment';
  /** Name of the file. */
  filename: string;
  /** Size of the file in bytes. */
  size: number;
}

/** A pending invitation of the same person. */
export interface InvitationMatch {
  /** Always `invitation`. */
  kind: 'invitation';
  /** Id of the invitation at the provider. */
  invitation_id: string;
  /** Hash id of the invited person. */
  recipient_actor_id: string;
  /** When it was sent, in ISO 8601. */
  sent_at: string;
}

/** What a look found. */
export interface Look {
  /** Null when it cannot be told how many there are: more was written since than a look reads. */
  found: 'one' | 'none' | 'several' | null;
  /** The newest first, `LIMITS.look_matches` at most. */
  matches: LookMatch[];
}

/** A message as the place shows it. */
export interface PlacedMessage {
  urn: string;
  body: string | null;
  sender_hash_id: string;
  /** Milliseconds since 1970. */
  delivered_ms: number;
  files: { filename: string; size: number }[];
  /** Its render content, but for the files. */
  content: Record<string, unknown>[];
}

export interface PlacedInvitation {
  invitation_id: string;
  recipient_actor_id: string;
  /** Milliseconds since 1970. */
  sent_ms: number;
}

/** How a provider shows an account what it has sent. */
export interface Place {
  /** Hash id of the account: what others wrote is not looked for. */
  self: string;
  /** Null when there is no conversation with this person. */
  conversationWith(recipientActorId: string): Promise<string | null>;
  /** A page of the conversation, newest first, from this moment backwards: what was seen before may be on it again. */
  messages(conversationId: string, from_ms: number | undefined): Promise<PlacedMessage[]>;
  /** A window of the pending invitations, newest first; `next` is where the next one starts. */
  invitations(start: number): Promise<{ entries: PlacedInvitation[]; next: number | null }>;
}

/** Looks for what was sought among what was written since, in milliseconds since 1970 by the provider's clock. */
export function lookFor(sought: Sought, since_ms: number, place: Place): Promise<Look> {
  switch (sought.kind) {
    case 'message':
    case 'attachment':
      return search(messagePages(sought, place), since_ms);
    case 'invitation':
      return search(invitationPages(sought, place), since_ms);
    default:
      return sought satisfies never;
  }
}

/** A message or invitation that was read. */
interface Seen {
  at_ms: number;
  match: LookMatch | undefined;
}

async function search(pages: AsyncIterable<Seen[]>, since_ms: number): Promise<Look> {
  const matches: LookMatch[] = [];
  let read = 0;
  for await (const page of pages) {
    const recent = page.filter(({ at_ms }) => at_ms >= since_ms);
    matches.push(...recent.flatMap(({ match }) => match ?? []));
    if (recent.length < page.length) break;
    const enough = ++read === LIMITS.look_pages || matches.length >= LIMITS.look_matches;
    if (enough) return { found: matches.length > 1 ? 'several' : null, matches: matches.slice(0, LIMITS.look_matches) };
  }
  const found = matches.length === 0 ? 'none' : matches.length === 1 ? 'one' : 'several';
  return { found, matches: matches.slice(0, LIMITS.look_matches) };
}

type SoughtMessage = Extract<Sought, { to: Destination }>;

async function* messagePages(sought: SoughtMessage, place: Place): AsyncGenerator<Seen[]> {
  const { conversation_id, recipient_actor_id = '' } = sought.to;
  const conversation = conversation_id ?? (await place.conversationWith(recipient_actor_id));
  if (conversation === null) return;
  const seen = new Set<string>();
  for (let from_ms: number | undefined; ; ) {
    const page = await place.messages(conversation, from_ms);
    const fresh = page.filter(({ urn }) => !seen.has(urn));
    // A full page of one moment leads nowhere, and is no end.
    if (fresh.length === 0 && page.length < LIMITS.look_page_messages) return;
    yield fresh.map((message) => ({
      at_ms: message.delivered_ms,
      match: message.sender_hash_id === place.self ? messageMatch(sought, message, conversation) : undefined,
    }));
    for (const { urn } of fresh) seen.add(urn);
    from_ms = page.at(-1)?.delivered_ms;
  }
}

function messageMatch(
  sought: SoughtMessage,
  { urn, body, files, content, delivered_ms }: PlacedMessage,
  conversation_id: string,
): MessageMatch | AttachmentMatch | undefined {
  if ((body ?? '') !== sought.body) return undefined;
  const where = { message_urn: urn, conversation_id, delivered_at: delivered_ms };
  if (sought.kind === 'message') {
    const same = files.length === 0 && isDeepStrictEqual(content, sought.content);
    return same ? { kind: 'message', ...where } : undefined;
  }
  const { filename, size } = sought;
  const same = files.some((file) => file.filename === filename && file.size === size);
  return same ? { kind: 'attachment', ...where, filename, size } : undefined;
}

async function* invitationPages(
  { recipient_actor_id }: Extract<Sought, { kind: 'invitation' }>,
  place: Place,
): AsyncGenerator<Seen[]> {
  for (let start: number | null = 0; start !== null; ) {
    const { entries, next } = await place.invitations(start);
    yield entries.map(({ invitation_id, recipient_actor_id: recipient, sent_ms }) => ({
      at_ms: sent_ms,
      match:
        recipient === recipient_actor_id
          ? { kind: 'invitation', invitation_id, recipient_actor_id, sent_at: new Date(sent_ms).toISOString() }
          : undefined,
    }));
    start = next;
  }
}
