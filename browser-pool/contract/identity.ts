import type { tags } from 'typia';
import type { Integer, NoInput, PublicId, Text } from './fields.js';
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

export interface IdentityResult {
  /** The authenticated account. */
  actor_id: string;
  hash_id: string;
  public_id: string | null;
  member_id: string | null;
  firstName: string | null;
  lastname: string | null;
  headline: string | null;
  avatar?: string;
  state_revision: number;
}

export type ProfileGetInput = { profile_id: PublicId };

export interface ProfileGetResult {
  profile: Profile;
  state_revision: number;
}

/** Contract: "Profile object". What the provider does not show is null or an empty list. */
export interface Profile {
  source: 'full';
  member_id: string | null;
  hash_id: string | null;
  public_id: string | null;
  first_name: string | null;
  last_name: string | null;
  headline: string | null;
  profile_picture: string | null;
  industry: string | null;
  location: string | null;
  public_profile_url: string | null;
  email: string | null;
  address: string | null;
  phone_numbers: string[];
  network_distance: number | null;
  has_pending_connection_request: boolean | null;
  connected_at: string | null;
  about: string | null;
  experience: Experience[];
  education: Education[];
}

export interface Experience {
  title: string | null;
  company: string | null;
  location: string | null;
  start_date: string | null;
  end_date: string | null;
  description: string | null;
}

export interface Education {
  school: string | null;
  degree: string | null;
  major: string | null;
  start_date: string | null;
  end_date: string | null;
}

export type HashIdsResolveInput = { public_ids: PublicId[] & tags.MinItems<1> & tags.MaxItems<25> };

export interface HashIdsResolveResult {
  /** Hash id by public id; null for a public id without a member. */
  hash_ids: Record<string, string | null>;
  state_revision: number;
}

export type ConnectionsListInput = {
  /** Default 25. */
  count?: Integer<1, 50>;
  /** Default 0. */
  start?: Integer<0, 10000>;
};

export interface ConnectionsListResult {
  connections: ConnectionEntry[];
  state_revision: number;
}

export interface ConnectionEntry {
  hash_id: string;
  public_id: string | null;
  first_name: string | null;
  last_name: string | null;
  headline: string | null;
  avatar: string | null;
  connected_at?: string | null;
}

export type CompanyGetInput = {
  public_id?: PublicId;
  company_id?: string & tags.Pattern<'^[0-9]{1,20}$'>;
  company_name?: Text<1, 255>;
};

export interface CompanyGetResult {
  company: Company;
  state_revision: number;
}

/** Contract: "Company object". What the provider leaves empty is left out. */
export interface Company {
  public_id?: string;
  company_id?: string;
  name?: string;
  tagline?: string;
  description?: string;
  url?: string;
  website?: string;
  phone?: string;
  employee_count?: number;
  employee_count_range?: string;
  founded_year?: number;
  industries?: string[];
  industry?: string;
  specialties?: string[];
  headquarter?: string;
  locations?: string[];
  logo_url?: string;
  cover_image_url?: string;
}

export type InvitationsSentListInput = {
  /** A multiple of 10; default 0. */
  start_index?: Integer<0, 100000>;
  include_total?: boolean;
};

export interface InvitationsSentListResult {
  entries: SentInvitation[];
  /** Number of entries of this page (OPS-19). */
  count: number;
  start_index: number;
  has_more: boolean;
  next_start_index: number | null;
  /** Advisory; only with `include_total`, null when unavailable. */
  total?: number | null;
  state_revision: number;
}

export interface SentInvitation {
  invitation_id: string;
  recipient_actor_id: string | null;
  public_id: string | null;
  name: string | null;
  headline: string | null;
  message: string | null;
  sent_at: string | null;
}
