import type { Directory } from '../data/directory.js';
import type { Relationships } from '../data/relationships.js';
import { SeededRandom } from '../data/seeded-random.js';
import { SENTENCES } from '../data/words.js';
import { LIMITS } from '../limits.js';

export interface Invitation {
  invitationId: string;
  recipientHashId: string;
  message: string | null;
  sentAt: number;
}

/**
 * Pending invitations of each sender, newest first. One that is withdrawn or accepted leaves an empty place behind,
 * as it does in the site's windows of ten. Generated like mailboxes, when they are first read.
 */
export class Invitations {
  readonly #directory: Directory;
  readonly #relationships: Relationships;
  readonly #open = new Map<string, (Invitation | null)[]>();
  readonly #waiting = new Map<string, Invitation[]>();

  constructor(directory: Directory, relationships: Relationships) {
    this.#directory = directory;
    this.#relationships = relationships;
  }

  /** The places of a sender's list. */
  of(hashId: string): readonly (Invitation | null)[] {
    const known = this.#open.get(hashId);
    if (known !== undefined) return known;
    const places = this.#generate(hashId);
    this.#open.set(hashId, places);
    for (const invitation of this.#waiting.get(hashId) ?? []) places.unshift(invitation);
    this.#waiting.delete(hashId);
    this.#clearAccepted(hashId);
    return places;
  }

  pendingTo(from: string, to: string): Invitation | undefined {
    return this.of(from).find((invitation) => invitation?.recipientHashId === to) ?? undefined;
  }

  apply(from: string, invitation: Invitation): void {
    const open = this.#open.get(from);
    if (open !== undefined) open.unshift(invitation);
    else this.#waiting.set(from, [...(this.#waiting.get(from) ?? []), invitation]);
  }

  /** Two members are connected now: nothing is pending between them any more. */
  applyConnected(one: string, other: string): void {
    this.#clearAccepted(one);
    this.#clearAccepted(other);
  }

  #clearAccepted(hashId: string): void {
    const places = this.#open.get(hashId);
    if (places === undefined) return;
    const connections = this.#relationships.connectionsOf(hashId);
    places.forEach((invitation, place) => {
      if (invitation !== null && connections.has(invitation.recipientHashId)) places[place] = null;
    });
  }

  #generate(hashId: string): (Invitation | null)[] {
    const random = new SeededRandom(this.#directory.seed, 'invitations', hashId);
    const invited = new Set<string>();
    let sentAt = Date.UTC(2025, 0, 1);
    return Array.from({ length: random.between(24, 58) }, (_, place) => {
      const recipient = this.#directory.members[random.between(0, LIMITS.members - 1)]?.hashId ?? hashId;
      sentAt -= random.between(60_000, 9 * 86_400_000);
      const withdrawn = place % 10 !== 0 && random.chance(0.2);
      const distance = this.#relationships.distance(hashId, recipient);
      if (withdrawn || invited.has(recipient) || distance === 'F' || distance === 'SELF') return null;
      invited.add(recipient);
      const invitationId = `7300${String(random.between(0, 999_999_999)).padStart(9, '0')}${String(place).padStart(6, '0')}`;
      return {
        invitationId,
        recipientHashId: recipient,
        message: random.chance(0.3) ? random.pick(SENTENCES) : null,
        sentAt,
      };
    });
  }
}
