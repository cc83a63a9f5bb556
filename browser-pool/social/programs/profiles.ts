import type { GetProfile, Profile } from '../../contract/identity.js';
import { Endpoints } from '../access/endpoints.js';
import type { Distance } from '../site/answers.js';
import { isProfile, type ProfileFields, type YearMonth } from '../site/directory-answers.js';
import { defineProgram } from './define.js';

const STEPS: Record<Distance, number> = { SELF: 0, F: 1, S: 2, O: 3 };

/** How far away a person is, in steps. */
export const steps = (distance: Distance | null): number | null => distance && STEPS[distance];

/** Contract: social.profile.get. */
const getProfile = defineProgram<GetProfile>('social.profile.get', async (run, site) => {
  const { profile_id } = run.input;
  const endpoints = await Endpoints.open(run, site);
  const { data } = await endpoints.get('profile', { id: profile_id }, isProfile);
  return { result: { profile: { source: 'full', hash_id: data.hashId, ...profileOf(data) } } };
});

/** One person in full. */
export const profilePrograms = [getProfile] as const;

/** Contract: "Profile object", but for `source` and `hash_id`, which depend on who shows it. */
export function profileOf(person: ProfileFields): Omit<Profile, 'source' | 'hash_id'> {
  const contact = person.contact || null;
  return {
    member_id: person.memberId,
    public_id: person.publicId,
    first_name: person.firstName,
    last_name: person.lastName,
    headline: person.headline,
    profile_picture: person.pictureUrl,
    industry: person.industry,
    location: person.location,
    public_profile_url: person.profileUrl,
    email: contact?.email ?? null,
    address: contact?.address ?? null,
    phone_numbers: contact?.phoneNumbers ?? [],
    network_distance: steps(person.distance),
    has_pending_connection_request: person.pendingInvitation,
    connected_at: timestamp(person.connectedAt),
    about: person.about,
    experience: (person.experience ?? []).map((post) => ({
      title: post.title,
      company: post.company,
      location: post.location,
      start_date: post.startedOn && month(post.startedOn),
      end_date: post.endedOn && month(post.endedOn),
      description: post.description,
    })),
    education: (person.education ?? []).map((study) => ({
      school: study.school,
      degree: study.degree,
      major: study.fieldOfStudy,
      start_date: text(study.startYear),
      end_date: text(study.endYear),
    })),
  };
}

/** The site's milliseconds as a timestamp of the API (HTTP-16). */
export function timestamp(at_ms: number | null): string | null {
  return at_ms === null ? null : new Date(at_ms).toISOString();
}

/** `2021-04`, or `2021` where the site shows no month. */
function month({ year, month }: YearMonth): string | null {
  return year === null || month === null ? text(year) : `${year}-${String(month).padStart(2, '0')}`;
}

/** A number of the site, as a text. */
export const text = (value: number | null): string | null => (value === null ? null : String(value));
