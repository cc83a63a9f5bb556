import type {
  GetCompany,
  GetIdentity,
  GetProfile,
  ListConnections,
  ResolveHashIds,
} from '../../browser-pool/contract/identity.js';
import { readAccepted } from '../../storage/operations/simulated-invitations.js';
import { companyFor } from './companies.js';
import { hashIdOf, publicIdOf } from './names.js';
import * as people from './people.js';
import { distanceTo, membersThatAre, relationshipTo, since } from './relationship.js';
import type { SimulatedAnswer } from './request.js';

/** Identity, profiles, connections and companies of the simulated network. */

const DEFAULT_CONNECTIONS = 25;

export const getIdentity: SimulatedAnswer<GetIdentity> = ({ self }) => {
  const person = people.personBySlug(self.slug);
  const avatar = people.pictureOf(person);
  return {
    result: {
      actor_id: self.actorId,
      hash_id: self.hashId,
      public_id: person.slug,
      member_id: person.memberId,
      firstName: person.firstName,
      lastname: person.lastName,
      headline: people.headlineOf(person),
      ...(avatar === null ? {} : { avatar }),
    },
  };
};

export const getProfile: SimulatedAnswer<GetProfile> = async ({ input, self, connection, store }) => {
  const person = people.personBySlug(input.profile_id);
  const standing = relationshipTo(self, person.slug);
  const invitation = await store.invitation({ connectionId: connection.id, actorId: person.hashId });
  const connected_ms =
    standing === 'connected' ? since(self, person) : invitation?.accepted && invitation.sent_at.getTime();
  return {
    result: {
      profile: {
        source: 'full',
        hash_id: person.hashId,
        ...people.describePerson(person),
        network_distance: connected_ms ? 1 : distanceTo(self, person.slug),
        has_pending_connection_request: standing === 'invited' || invitation?.accepted === false,
        connected_at: connected_ms ? new Date(connected_ms).toISOString() : null,
      },
    },
  };
};

export const resolveHashIds: SimulatedAnswer<ResolveHashIds> = ({ input }) => ({
  result: { hash_ids: Object.fromEntries(input.public_ids.map((publicId) => [publicId, hashIdOf(publicId)])) },
});

/** Who accepted an invitation, the last one first, and then the computed ones. */
export const listConnections: SimulatedAnswer<ListConnections> = async ({ input, self, connection, store }) => {
  const { start = 0, count = DEFAULT_CONNECTIONS } = input;
  const accepted = await readAccepted(store.db, connection.id, start, count);
  const from = Math.max(0, start - accepted.all);
  const page = [
    ...accepted.people.map(({ recipient, sent_at }) => {
      return { person: people.personBySlug(publicIdOf(recipient)), connected_ms: sent_at.getTime() };
    }),
    ...membersThatAre(self, 'connected')
      .slice(from, from + count - accepted.people.length)
      .map((person) => ({ person, connected_ms: since(self, person) })),
  ];
  return {
    result: {
      connections: page.map(({ person, connected_ms }) => ({
        hash_id: person.hashId,
        public_id: person.slug,
        first_name: person.firstName,
        last_name: person.lastName,
        headline: people.headlineOf(person),
        avatar: people.pictureOf(person),
        connected_at: new Date(connected_ms).toISOString(),
      })),
    },
  };
};

export const getCompany: SimulatedAnswer<GetCompany> = ({ input }) => ({ result: { company: companyFor(input) } });
