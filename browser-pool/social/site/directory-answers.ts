import typia, { type tags } from 'typia';
import type { Distance, Id, Milliseconds } from './answers.js';

/** What the site answers about people, companies and invitations (see `answers.ts` for the rule). */

/** A profile as the ordinary and the recruiter's side show it; the latter may keep who it is to itself. */
export interface ProfileFields<Known extends null = never> {
  hashId: Id | Known;
  publicId: string | Known;
  memberId: string;
  firstName: string;
  lastName: string;
  headline: string | null;
  pictureUrl: string | null;
  industry: string | null;
  location: string | null;
  about: string | null;
  profileUrl: string | Known;
  distance: Distance;
  connectedAt: Milliseconds | null;
  pendingInvitation: boolean;
  contact: { email: string | null; address: string | null; phoneNumbers: string[] };
  experience: {
    title: string;
    company: string;
    location: string | null;
    description: string | null;
    startedOn: YearMonth;
    endedOn: YearMonth | null;
  }[];
  education: {
    school: string;
    degree: string | null;
    fieldOfStudy: string | null;
    startYear: Year;
    endYear: Year;
  }[];
}
export type Year = number & tags.Type<'uint32'> & tags.Minimum<1000> & tags.Maximum<9999>;
export interface YearMonth {
  year: Year;
  month: number & tags.Type<'uint32'> & tags.Minimum<1> & tags.Maximum<12>;
}

export interface ProfileAnswer {
  data: ProfileFields;
}
export const isProfile = typia.createIs<ProfileAnswer>();

export interface ConnectionsAnswer {
  data: {
    hashId: Id;
    publicId: string;
    firstName: string;
    lastName: string;
    headline: string | null;
    pictureUrl: string | null;
    connectedAt: Milliseconds | null;
  }[];
  paging: { start: number };
}
export const isConnections = typia.createIs<ConnectionsAnswer>();

export interface CompanyAnswer {
  data: {
    companyId: string;
    publicId: string;
    name: string;
    tagline: string | null;
    description: string | null;
    url: string;
    websiteUrl: string | null;
    phone: string | null;
    employeeCount: (number & tags.Type<'uint32'>) | null;
    employeeCountRange: { start: number & tags.Type<'uint32'>; end: (number & tags.Type<'uint32'>) | null } | null;
    foundedYear: number | null;
    industries: string[];
    specialties: string[];
    logoUrl: string | null;
    coverImageUrl: string | null;
    headquarter: Place | null;
    locations: Place[];
  };
}
export interface Place {
  city: string;
  country: string;
}
export const isCompany = typia.createIs<CompanyAnswer>();

export interface SentInvitationsAnswer {
  data: {
    invitationId: string & tags.MinLength<1>;
    sentAt: Milliseconds;
    message: string | null;
    recipient: {
      hashId: Id;
      publicId: string;
      firstName: string;
      lastName: string;
      headline: string | null;
    };
  }[] &
    tags.MaxItems<10>;
  paging: { start: number; nextStart: number | null; total: (number & tags.Type<'uint32'>) | null };
}
export const isSentInvitations = typia.createIs<SentInvitationsAnswer>();
