import type { tags } from 'typia';
import type { Integer, NoInput, PersonId, ProfileSlug, PublicId, Text } from './fields.js';
import type { Signature } from './signature.js';

/** Identity, profiles, connections and companies (contract: "Identity, profile, connections, organizations"). */

export type GetIdentity = Signature<'social.identity.get', NoInput, IdentityResult>;
export type GetProfile = Signature<'social.profile.get', ProfileGetInput, ProfileGetResult>;
export type ResolveHashIds = Signature<'social.hash_ids.resolve', HashIdsResolveInput, HashIdsResolveResult>;
export type ListConnections = Signature<'social.connections.list', ConnectionsListInput, ConnectionsListResult>;
export type GetCompany = Signature<'social.company.get', CompanyGetInput, CompanyGetResult>;
export type ListSentInvitations = Signature<
  'social.invitations.sent.list',
  InvitationsSentListInput,
  InvitationsSentListResult
>;

/** The authenticated account. */
export interface IdentityResult {
  /** Hash id that identifies the authenticated account. */
  actor_id: PersonId;
  /** The same hash id, under the name that other reads use. */
  hash_id: PersonId;
  /** Public slug of the account's profile, null when it has none. */
  public_id: PersonId | null;
  /** Numeric id of the member at the provider, null when it is not shown. */
  member_id: PersonId | null;
  /** First name, null when it is not shown. */
  firstName: string | null;
  /** Last name, null when it is not shown. */
  lastname: string | null;
  /** Line below the name, null when there is none. */
  headline: string | null;
  /** Address of the picture; absent when there is none. */
  avatar?: string;
  /** Generation of the session that asked. */
  state_revision: number;
}

/** Whose profile to read. */
export type ProfileGetInput = {
  /** Public slug of the profile. */
  profile_id: ProfileSlug;
};

/** A profile. */
export interface ProfileGetResult {
  /** The profile that was read. */
  profile: Profile;
  /** Generation of the session that read it. */
  state_revision: number;
}

/** A person's profile (contract: "Profile object"). A field that the provider does not show is null or an empty list. */
export interface Profile {
  /** Always `full`: all of the profile was read. */
  source: 'full';
  /** Numeric id of the member at the provider, null when it is not shown. */
  member_id: PersonId | null;
  /** Hash id of the person, which sends take; null when it is not shown. */
  hash_id: PersonId | null;
  /** Public slug of the profile, null when it is not shown. */
  public_id: PersonId | null;
  /** First name, null when it is not shown. */
  first_name: string | null;
  /** Last name, null when it is not shown. */
  last_name: string | null;
  /** Line below the name, null when there is none. */
  headline: string | null;
  /** Address of the picture, null when there is none. */
  profile_picture: string | null;
  /** Industry that the person works in, null when it is not shown. */
  industry: string | null;
  /** Where the person lives, null when it is not shown. */
  location: string | null;
  /** Address of the public profile, null when there is none. */
  public_profile_url: PersonId | null;
  /** Mail address, null unless the person shows it to the account. */
  email: PersonId | null;
  /** Postal address, null unless the person shows it to the account. */
  address: string | null;
  /** Phone numbers that the person shows to the account; empty when there are none. */
  phone_numbers: PersonId[];
  /** Steps between the account and the person in the network, null when the provider does not say. */
  network_distance: number | null;
  /** Whether an invitation to this person is pending, null when the provider does not say. */
  has_pending_connection_request: boolean | null;
  /** When the two connected, in ISO 8601; null when they are not connected. */
  connected_at: string | null;
  /** The person's own words about themselves, null when there are none. */
  about: string | null;
  /** Positions, the newest first; empty when none is shown. */
  experience: Experience[];
  /** Schools, the newest first; empty when none is shown. */
  education: Education[];
}

/** A position that a person holds or held. */
export interface Experience {
  /** Title of the position, null when it is not shown. */
  title: string | null;
  /** Name of the company, null when it is not shown. */
  company: string | null;
  /** Where it is or was, null when it is not shown. */
  location: string | null;
  /** When it began, as a year or a year and a month; null when it is not shown. */
  start_date: string | null;
  /** When it ended, as a year or a year and a month; null while it lasts. */
  end_date: string | null;
  /** The person's words about it, null when there are none. */
  description: string | null;
}

/** A school that a person went to. */
export interface Education {
  /** Name of the school, null when it is not shown. */
  school: string | null;
  /** Degree, null when it is not shown. */
  degree: string | null;
  /** Subject, null when it is not shown. */
  major: string | null;
  /** When it began, as a year or a year and a month; null when it is not shown. */
  start_date: string | null;
  /** When it ended, as a year or a year and a month; null when it is not shown. */
  end_date: string | null;
}

/** Whose hash ids to look up. */
export type HashIdsResolveInput = {
  /** Public slugs of 1 to 25 profiles. */
  public_ids: ProfileSlug[] & tags.MinItems<1> & tags.MaxItems<25>;
};

/** Hash ids of profiles. */
export interface HashIdsResolveResult {
  /** Hash id by public id; null for a public id without a member. */
  hash_ids: Record<string, PersonId | null>;
  /** Generation of the session that asked. */
  state_revision: number;
}

/** Which part of the account's connections to list. */
export type ConnectionsListInput = {
  /** Entries on a page, 1 to 50; 25 when it is absent. */
  count?: Integer<1, 50>;
  /** How many entries to skip, 0 to 10000; 0 when it is absent. */
  start?: Integer<0, 10000>;
};

/** A page of the account's connections. */
export interface ConnectionsListResult {
  /** People that the account is connected with, the newest first; an empty page is behind the last one. */
  connections: ConnectionEntry[];
  /** Generation of the session that read them. */
  state_revision: number;
}

/** A person that the account is connected with. */
export interface ConnectionEntry {
  /** Hash id of the person, which sends take; null when it is not shown. */
  hash_id: PersonId | null;
  /** Public slug of the profile, null when it is not shown. */
  public_id: PersonId | null;
  /** First name, null when it is not shown. */
  first_name: string | null;
  /** Last name, null when it is not shown. */
  last_name: string | null;
  /** Line below the name, null when there is none. */
  headline: string | null;
  /** Address of the picture, null when there is none. */
  avatar: string | null;
  /** When the two connected, in ISO 8601; absent or null when the provider does not say. */
  connected_at?: string | null;
}

/** Which company to read: exactly one of the three. */
export type CompanyGetInput = {
  /** Public slug of the company. */
  public_id?: PublicId;
  /** Id of the company at the provider, up to 20 digits. */
  company_id?: string & tags.Pattern<'^[0-9]{1,20}$'>;
  /** Name of the company, up to 255 characters; the best match is read. */
  company_name?: Text<1, 255>;
};

/** A company. */
export interface CompanyGetResult {
  /** The company that was read. */
  company: Company;
  /** Generation of the session that read it. */
  state_revision: number;
}

/** A company (contract: "Company object"). A field that the provider leaves empty is left out. */
export interface Company {
  /** Public slug of the company. */
  public_id?: string;
  /** Id of the company at the provider. */
  company_id?: string;
  /** Its name. */
  name?: string;
  /** Line below the name. */
  tagline?: string;
  /** Its own words about itself. */
  description?: string;
  /** Address of its page on the network. */
  url?: string;
  /** Address of its own site. */
  website?: string;
  /** Phone number. */
  phone?: string;
  /** How many of its people are on the network. */
  employee_count?: number;
  /** Range of its size as it states it, such as `11-50`. */
  employee_count_range?: string;
  /** Year of its foundation. */
  founded_year?: number;
  /** Every industry that it is in. */
  industries?: string[];
  /** The first of its industries. */
  industry?: string;
  /** What it says it is good at. */
  specialties?: string[];
  /** Where its head office is. */
  headquarter?: string;
  /** Where it has offices. */
  locations?: string[];
  /** Address of its logo. */
  logo_url?: string;
  /** Address of the picture at the head of its page. */
  cover_image_url?: string;
}

/** Which part of the pending invitations to list. */
export type InvitationsSentListInput = {
  /** How many invitations to skip: a multiple of 10 up to 100000; 0 when it is absent. */
  start_index?: Integer<0, 100000>;
  /** `true` asks for `total`; `false` when it is absent. */
  include_total?: boolean;
};

/** A page of invitations that the account sent and that are still pending. */
export interface InvitationsSentListResult {
  /** Up to ten invitations, the newest first. */
  entries: SentInvitation[];
  /** Number of entries on this page (OPS-19). */
  count: number;
  /** The invitation that the page begins with. */
  start_index: number;
  /** Whether another page follows, however short this one is. */
  has_more: boolean;
  /** `start_index` of the next page; null when `has_more` is false. */
  next_start_index: number | null;
  /** How many are pending, roughly: only with `include_total`, null when the provider does not say. */
  total?: number | null;
  /** Generation of the session that read them. */
  state_revision: number;
}

/** A pending invitation. */
export interface SentInvitation {
  /** Its id at the provider; dedupe by it. */
  invitation_id: string;
  /** Hash id of the invited person, null when it is not shown. */
  recipient_actor_id: PersonId | null;
  /** Public slug of the invited person, null when it is not shown. */
  public_id: PersonId | null;
  /** Name of the invited person, null when it is not shown. */
  name: string | null;
  /** Line below that name, null when there is none. */
  headline: string | null;
  /** Note that went with it, null when there was none. */
  message: string | null;
  /** When it was sent, in ISO 8601; null when the provider does not say. */
  sent_at: string | null;
}
