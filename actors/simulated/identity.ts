import type {
  GetCompany,
  GetIdentity,
  GetProfile,
  ListConnections,
  ResolveHashIds,
} from '../../browser-pool/contract/identity.js';
import { companyFor } from './companies.js';
import { hashIdOf } from './names.js';
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

export const getProfile: SimulatedAnswer<GetProfile> = ({ input, self }) => {
  const person = people.personBySlug(input.profile_id);
  const standing = relationshipTo(self, person.slug);
  return {
    result: {
      profile: {
        source: 'full',
        hash_id: person.hashId,
        ...people.describePerson(person),
        network_distance: distanceTo(self, person.slug),
        has_pending_connection_request: standing === 'invited',
        connected_at: standing === 'connected' ? new Date(since(self, person)).toISOString() : null,
      },
    },
  };
};

export const resolveHashIds: SimulatedAnswer<ResolveHashIds> = ({ input }) => ({
  result: { hash_ids: Object.fromEntries(input.public_ids.map((publicId) => [publicId, hashIdOf(publicId)])) },
});

export const listConnections: SimulatedAnswer<ListConnections> = ({ input, self }) => {
  const start = input.start ?? 0;
  const page = membersThatAre(self, 'connected').slice(start, start + (input.count ?? DEFAULT_CONNECTIONS));
  return {
    result: {
      connections: page.map((person) => ({
        hash_id: person.hashId,
        public_id: person.slug,
        first_name: person.firstName,
        last_name: person.lastName,
        headline: people.headlineOf(person),
        avatar: people.pictureOf(person),
        connected_at: new Date(since(self, person)).toISOString(),
      })),
    },
  };
};

export const getCompany: SimulatedAnswer<GetCompany> = ({ input }) => ({ result: { company: companyFor(input) } });
