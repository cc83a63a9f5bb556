import { ownHashIdOf, publicIdOf } from './names.js';
import { allMembers, MEMBERS, memberAt, type Person, placeOf } from './people.js';
import { mix, seedOf } from './seeded-random.js';

/**
 * How one member stands to another. Computed from the pair, so it needs no storage; a person who is not among the members
 * is a stranger, so that an invitation to any made-up id can be sent.
 */
export type Relationship = 'self' | 'connected' | 'invited' | 'second' | 'stranger';

const CONNECTED_PERCENT = 8;
const INVITED_PERCENT = 4;
const SECOND_PERCENT = 30;
/** When the computed history ends: nothing in it is younger than what operations do. 2025-06-01. */
export const HISTORY_END_MS = 1_748_736_000_000;
export const DAY_MS = 86_400_000;

/** The account that the connection is signed in to. */
export interface Self {
  actorId: string;
  hashId: string;
  slug: string;
  seed: number;
}

export function selfOf(actorId: string): Self {
  const hashId = ownHashIdOf(actorId);
  return { actorId, hashId, slug: publicIdOf(hashId), seed: seedOf(hashId) };
}

/** How `slug` stands to the account with this seed. */
export function relationshipTo(self: Pick<Self, 'seed' | 'slug'>, slug: string): Relationship {
  if (slug === self.slug) return 'self';
  const place = placeOf(slug);
  return place === undefined ? 'stranger' : relationshipAt(self.seed, place);
}

/** The members that stand so to the account, in their fixed order. */
export function membersThatAre(self: Self, wanted: Relationship): Person[] {
  return allMembers().filter(
    (person, place) => person.slug !== self.slug && relationshipAt(self.seed, place) === wanted,
  );
}

/** Degrees of distance: 0 is the account itself, 3 every person beyond the second degree. */
export function distanceTo(self: Self, slug: string): number {
  const relationship = relationshipTo(self, slug);
  switch (relationship) {
    case 'self':
      return 0;
    case 'connected':
      return 1;
    case 'second':
      return 2;
    case 'invited':
    case 'stranger':
      return 3;
    default:
      return relationship satisfies never;
  }
}

/** True for the connections of a person other than the account, for the `connection_of` filter. */
export function connectedTo(hashId: string): (person: Person) => boolean {
  const other = { seed: seedOf(hashId), slug: publicIdOf(hashId) };
  return (person) => relationshipTo(other, person.slug) === 'connected';
}

/** When the account and a member it knows were connected, or when it invited them. */
export function since(self: Self, person: Person): number {
  return HISTORY_END_MS - (mix(self.seed, person.seed) % 1000) * DAY_MS;
}

/** Members at a walk of their own for the account: the first, the second ... all different below 997. */
export function walk(self: Self, step: number): Person {
  return memberAt((self.seed % MEMBERS) + step * (1 + (self.seed % (MEMBERS - 1))));
}

function relationshipAt(seed: number, place: number): Relationship {
  const percent = mix(seed, place) % 100;
  if (percent < CONNECTED_PERCENT) return 'connected';
  if (percent < CONNECTED_PERCENT + INVITED_PERCENT) return 'invited';
  return percent < CONNECTED_PERCENT + INVITED_PERCENT + SECOND_PERCENT ? 'second' : 'stranger';
}
