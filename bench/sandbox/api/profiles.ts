import { biographyOf } from '../data/biography.js';
import type { Member } from '../data/members.js';
import { INDUSTRIES, LOCATIONS } from '../data/words.js';
import { html, json, notFound } from '../http/answer.js';
import type { Exchange, Route } from '../http/exchange.js';
import { escaped, page } from '../http/markup.js';
import { ORIGIN } from '../limits.js';
import type { State } from '../state/state.js';
import { pictureOf } from './identity.js';

/** Profiles, as JSON and as the page that links lead to. */
export function profileRoutes(state: State): Route[] {
  const capabilities = ['social.profile.get'];
  const asked = (exchange: Exchange): Member => {
    const member = state.directory.byPublicId(exchange.params[0] ?? '');
    if (member === undefined) throw notFound('member');
    return member;
  };
  return [
    {
      method: 'GET',
      path: '/api/profiles/:id',
      access: 'api',
      capabilities,
      answer: (exchange) => {
        exchange.query.only();
        return json({ data: profileView(state, exchange.viewer.member, asked(exchange)) });
      },
    },
    {
      method: 'GET',
      path: '/in/:id',
      access: 'page',
      capabilities,
      answer: (exchange) => html(200, profilePage(asked(exchange))),
    },
  ];
}

export function profileView(state: State, viewer: Member, member: Member): Record<string, unknown> {
  const { hashId, publicId, memberId, firstName, lastName, headline } = member;
  const life = biographyOf(member, state.directory.companies);
  const distance = state.relationships.distance(viewer.hashId, hashId);
  const connected = distance === 'F' || distance === 'SELF';
  return {
    hashId,
    publicId,
    memberId,
    firstName,
    lastName,
    headline,
    pictureUrl: pictureOf(member),
    industry: INDUSTRIES[member.industry],
    location: LOCATIONS[member.location],
    about: life.about,
    profileUrl: `${ORIGIN}/in/${publicId}`,
    distance,
    connectedAt: state.relationships.connectionsOf(viewer.hashId).get(hashId) ?? null,
    pendingInvitation: state.invitations.pendingTo(viewer.hashId, hashId) !== undefined,
    contact: {
      email: connected ? life.email : null,
      address: connected ? life.address : null,
      phoneNumbers: connected ? life.phoneNumbers : [],
    },
    experience: life.experience,
    education: life.education,
    skills: life.skills,
    languages: [member.language],
  };
}

function profilePage(member: Member): string {
  const name = `${member.firstName} ${member.lastName}`;
  return page(
    'profile',
    name,
    `<main id="profile" data-hash-id="${member.hashId}" data-public-id="${member.publicId}" data-member-id="${member.memberId}">
<h1>${escaped(name)}</h1><p>${escaped(member.headline)}</p><p>${escaped(LOCATIONS[member.location] ?? '')}</p>
</main>`,
  );
}
