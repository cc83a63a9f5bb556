import { LIMITS } from '../limits.js';
import type { Directory } from './directory.js';
import type { Member } from './members.js';
import { fingerprint, SeededRandom } from './seeded-random.js';

/** First degree, second degree, or neither. */
export type Distance = 'SELF' | 'F' | 'S' | 'O';

/** Connections between members. A member's own follow from its hash id; one made later is added at both ends. */
export class Relationships {
  readonly #directory: Directory;
  readonly #connections = new Map<string, Map<string, number>>();

  constructor(directory: Directory) {
    this.#directory = directory;
  }

  /** Hash ids of a member's connections with the time each was made (ms), newest first. */
  connectionsOf(hashId: string): Map<string, number> {
    const known = this.#connections.get(hashId);
    if (known !== undefined) return known;
    const random = new SeededRandom(this.#directory.seed, 'connections', hashId);
    const made = new Map<string, number>();
    const wanted = random.between(60, 240);
    let at = Date.UTC(2025, 0, 1);
    while (made.size < wanted) {
      // Only generated members, whose number never changes: a later account must not move the connections of others.
      const other = this.#directory.members[random.between(0, LIMITS.members - 1)] as Member;
      at -= random.between(3_600_000, 20 * 86_400_000);
      if (other.hashId !== hashId && !made.has(other.hashId)) made.set(other.hashId, at);
    }
    this.#connections.set(hashId, made);
    return made;
  }

  distance(from: string, to: string): Distance {
    if (from === to) return 'SELF';
    if (this.connectionsOf(from).has(to)) return 'F';
    return fingerprint(`${from < to ? from : to}\u0000${from < to ? to : from}`) % 4 === 0 ? 'S' : 'O';
  }

  /** Both become first-degree connections of each other. */
  connect(one: string, other: string, at: number): void {
    for (const [a, b] of [
      [one, other],
      [other, one],
    ] as const) {
      const before = this.connectionsOf(a);
      if (!before.has(b)) this.#connections.set(a, new Map([[b, at], ...before]));
    }
  }
}
