import { wordsOf } from '../data/directory.js';
import type { Member } from '../data/members.js';
import { facetId } from '../data/taxonomy.js';
import { SCHOOLS } from '../data/words.js';
import { badRequest } from '../http/answer.js';
import type { Exchange } from '../http/exchange.js';
import type { State } from '../state/state.js';

/** Whether a member passes one facet of a search. */
type Facet = (member: Member) => boolean;

const ID_FACETS = {
  locationId: (member: Member) => facetId('location', member.location),
  industryId: (member: Member) => facetId('industry', member.industry),
  schoolId: (member: Member) => facetId('school', member.school),
  serviceCategoryId: (member: Member) => (member.service < 0 ? '' : facetId('service', member.service)),
} as const;

export const FACETS = [
  ...Object.keys(ID_FACETS),
  'currentCompanyId',
  'pastCompanyId',
  'network',
  'connectionOf',
  'followerOf',
  'profileLanguage',
  'firstName',
  'lastName',
  'title',
  'company',
  'school',
  'openToVolunteer',
] as const;

/** The facets of a search. Malformed ones are refused; an unknown id matches no member. */
export function facetsOf(state: State, exchange: Exchange): Facet[] {
  const { query, viewer } = exchange;
  const { companies } = state.directory;
  const facets: Facet[] = [];
  const ids = (name: string, idOf: (member: Member) => string): void => {
    const wanted = query.list(name, 50);
    if (wanted !== null) facets.push((member) => wanted.includes(idOf(member)));
  };
  const words = (name: string, textOf: (member: Member) => string): void => {
    const wanted = query.text(name, 100);
    if (wanted === null) return;
    const asked = wordsOf(wanted);
    facets.push((member) => {
      const own = wordsOf(textOf(member));
      return asked.every((word) => own.includes(word));
    });
  };

  for (const [name, idOf] of Object.entries(ID_FACETS)) ids(name, idOf);
  ids('currentCompanyId', (member) => companies[member.company]?.companyId ?? '');
  ids('pastCompanyId', (member) => companies[member.pastCompany]?.companyId ?? '');
  ids('profileLanguage', (member) => member.language);
  words('firstName', (member) => member.firstName);
  words('lastName', (member) => member.lastName);
  words('title', (member) => member.title);
  words('company', (member) => companies[member.company]?.name ?? '');
  words('school', (member) => SCHOOLS[member.school] ?? '');

  const network = query.list('network', 3);
  if (network !== null) {
    if (network.some((entry) => !['F', 'S', 'O'].includes(entry))) throw badRequest('network is a list of F, S, O.');
    facets.push((member) => network.includes(state.relationships.distance(viewer.member.hashId, member.hashId)));
  }
  for (const name of ['connectionOf', 'followerOf']) {
    const hashId = query.text(name, 255);
    if (hashId === null) continue;
    const known =
      state.directory.byHashId(hashId) === undefined ? new Map() : state.relationships.connectionsOf(hashId);
    facets.push((member) => known.has(member.hashId));
  }
  const volunteer = query.flag('openToVolunteer');
  if (volunteer !== null) facets.push((member) => member.volunteer === volunteer);
  return facets;
}
