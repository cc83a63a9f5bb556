import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FILES_HOST } from '../limits.js';
import { unguessable } from './sessions.js';

export interface Attachment {
  id: string;
  name: string;
  contentType: string;
  size: number;
  ownerHashId: string;
}

const URN_PREFIX = 'urn:social:attachment:';

/** Uploaded files. Their bytes stand in a directory of their own, what they are called in the journal. */
export class Attachments {
  readonly #directory: string;
  readonly #attachments = new Map<string, Attachment>();
  readonly #readers = new Map<string, Set<string>>();

  constructor(directory: string) {
    this.#directory = directory;
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  }

  /** Stores the bytes; the attachment counts once its record is committed. */
  store(ownerHashId: string, name: string, contentType: string, bytes: Buffer): Attachment {
    const id = `at-${unguessable()}`;
    writeFileSync(join(this.#directory, id), bytes, { mode: 0o600 });
    return { id, name, contentType, size: bytes.length, ownerHashId };
  }

  /** The upload with that urn, when it is the member's own. */
  own(urn: string, hashId: string): Attachment | undefined {
    const attachment = urn.startsWith(URN_PREFIX) ? this.#attachments.get(urn.slice(URN_PREFIX.length)) : undefined;
    return attachment?.ownerHashId === hashId ? attachment : undefined;
  }

  /** An attachment and its bytes; undefined unless this member may read it. */
  read(id: string, hashId: string): { attachment: Attachment; bytes: Buffer } | undefined {
    const attachment = this.#attachments.get(id);
    if (attachment === undefined || this.#readers.get(id)?.has(hashId) !== true) return undefined;
    return { attachment, bytes: readFileSync(join(this.#directory, id)) };
  }

  apply(attachment: Attachment): void {
    this.#attachments.set(attachment.id, attachment);
    this.#readers.set(attachment.id, new Set([attachment.ownerHashId]));
  }

  applySent(ids: readonly string[], people: readonly string[]): void {
    for (const id of ids) {
      const readers = this.#readers.get(id);
      for (const hashId of people) readers?.add(hashId);
    }
  }
}

export function attachmentUrn(attachment: Attachment): string {
  return URN_PREFIX + attachment.id;
}

/** An attachment as messages carry it. */
export function attachmentContent(attachment: Attachment): Record<string, unknown> {
  const { id, name, contentType, size } = attachment;
  const url = `https://${FILES_HOST}/attachments/${id}/${encodeURIComponent(name)}`;
  return { attachment: { urn: attachmentUrn(attachment), name, contentType, size, url } };
}
