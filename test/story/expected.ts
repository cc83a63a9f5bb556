import { iso, type Row } from '../fixture/social.js';

/** Rows of the network as the API has to show them, written down from the contract. */

/** Degrees of distance. */
export const STEPS: Record<string, number> = { SELF: 0, F: 1, S: 2, O: 3 };

/** One field of each row, as text. */
export const ids = (rows: object[], field: string): string[] => rows.map((row) => String((row as Row)[field]));

/** A profile without `source`, `hash_id` and how to reach the person, which depend on who shows it. */
export function profileOf(theirs: Row): Row {
  return {
    member_id: theirs.memberId,
    public_id: theirs.publicId,
    first_name: theirs.firstName,
    last_name: theirs.lastName,
    headline: theirs.headline,
    profile_picture: theirs.pictureUrl,
    industry: theirs.industry,
    location: theirs.location,
    public_profile_url: theirs.profileUrl,
    network_distance: STEPS[String(theirs.distance)],
    has_pending_connection_request: theirs.pendingInvitation,
    connected_at: iso(theirs.connectedAt),
    about: theirs.about,
    experience: (theirs.experience as Row[]).map((post) => ({
      title: post.title,
      company: post.company,
      location: post.location,
      start_date: month(post.startedOn as Row),
      end_date: month(post.endedOn as Row | null),
      description: post.description,
    })),
    education: (theirs.education as Row[]).map((study) => ({
      school: study.school,
      degree: study.degree,
      major: study.fieldOfStudy,
      start_date: String(study.startYear),
      end_date: String(study.endYear),
    })),
  };
}

const month = (on: Row | null) => on && `${on.year}-${String(on.month).padStart(2, '0')}`;
