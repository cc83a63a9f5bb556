import { createHash } from 'node:crypto';
import { isProviderId } from '../../browser-pool/contract/fields.js';
import { LIMITS } from './limits.js';
import { seedOf } from './seeded-random.js';

/**
 * How the simulated network names people and conversations. Nothing is looked up: an id can be read back into what
 * it names. The hash id of a simulated connection is its `external_actor.id`, so that one can write to another
 * (EVT-11); every other hash id is made from the public slug and leads back to it.
 */

const PERSON = 'SIM_';
const PEER_SLUG = 'sim.';
/** Begins the hash id of an account whose `external_actor.id` cannot be one (`findRecipients` finds its connection). */
const OTHER = 'SIMX_';
const CONVERSATION = '2-';

/** Hash id of a public slug. */
export function hashIdOf(publicId: string): string {
  if (publicId.startsWith(PEER_SLUG) && publicId.length > PEER_SLUG.length)
    return encode(publicId.slice(PEER_SLUG.length).replaceAll(EQUALS, '='));
  return bounded(PERSON + encode(publicId));
}

/** Public slug of a hash id. */
export function publicIdOf(hashId: string): string {
  if (hashId.startsWith(PERSON) && hashId.length > PERSON.length) return decode(hashId.slice(PERSON.length));
  return bounded(PEER_SLUG + decode(hashId.replaceAll('=', EQUALS)));
}

/**
 * Hash id of a connection's own account: its `external_actor.id` where that is the same behind a slug and a conversation, else one made from it, by
 * which it is found as well (CONN-13).
 */
export function ownHashIdOf(actorId: string): string {
  const leadsBack = () =>
    hashIdOf(publicIdOf(actorId)) === actorId && participantOf(conversationWith(actorId)) === actorId;
  return isProviderId(actorId) && leadsBack() ? actorId : OTHER + createHash('md5').update(actorId).digest('hex');
}

/** The conversation with this person, as the other side of it names it. */
export function conversationWith(hashId: string): string {
  return bounded(CONVERSATION + hashId);
}

/**
 * The person a conversation is with. Every id is a conversation with a person, though only ids made here lead back to the
 * person they were made for. Ids that had to be shortened (hash ids of more than 253 characters) do not: such a person is
 * written to by `recipient_actor_id`.
 */
export function participantOf(conversationId: string): string {
  return conversationId.startsWith(CONVERSATION) && conversationId.length > CONVERSATION.length
    ? conversationId.slice(CONVERSATION.length)
    : `${PERSON}member-${seedOf(conversationId).toString(36)}`;
}

// Slugs may hold a dot, hash ids a plus and an equals sign, and neither the other's.
/** What stands for an equals sign in the slug of a peer. */
const EQUALS = '.-';
const encode = (publicId: string) => publicId.replaceAll('.', '+');
const decode = (hashId: string) => hashId.replaceAll(/[+=]/g, '.');

function bounded(id: string): string {
  return id.length <= LIMITS.id_characters
    ? id
    : `${id.slice(0, LIMITS.id_characters - 8)}-${seedOf(id).toString(36).padStart(7, '0')}`;
}
