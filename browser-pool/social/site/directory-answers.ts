import typia, { type tags } from 'typia';
import type { Distance, Id, Milliseconds } from './answers.js';
import type { Unfamiliar } from './names.js';

/** What the site answers about people, companies and invitations (see `answers.ts` for the rule). */

/** A profile as the ordinary and the recruiter's side show it. */
export interface ProfileFields {
  hashId: Id | null;
  publicId: string | null;
  memberId: string | null;
  firstName: string | null;
  lastName: string | null;
  headline: string | null;
  pictureUrl: string | null;
  industry: string | null;
  location: string | null;
  about: string | null;
  profileUrl: string | null;
  distance: Distance | null;
  connectedAt: Milliseconds | null;
  pendingInvitation: boolean | null;
  contact: { email: string | null; address: string | null; phoneNumbers: string[] | null } | Unfamiliar | null;
  experience:
    | {
        title: string | null;
        company: string | null;
        location: string | null;
        description: string | null;
        startedOn: YearMonth | null;
        endedOn: YearMonth | null;
      }[]
    | null;
  education:
    | {
        school: string | null;
        degree: string | null;
        fieldOfStudy: string | null;
        startYear: Year | null;
        endYear: Year | null;
      }[]
    | null;
}
export type Year = number & tags.Type<'uint32'> & tags.Minimum<1000> & tags.Maximum<9999>;
export interface YearMonth {
  year: Year | null;
  month: (number & tags.Type<'uint32'> & tags.Minimum<1> & tags.Maximum<12>) | null;
}

export interface ProfileAnswer {
  data: ProfileFields;
}
export const isProfile = typia.createIs<ProfileAnswer>();

export interface ConnectionsAnswer {
  data: {
    hashId: Id | null;
    publicId: string | null;
    firstName: string | null;
    lastName: string | null;
    headline: string | null;
    pictureUrl: string | null;
    connectedAt: Milliseconds | null;
  }[];
  paging: { start: number };
}
export const isConnections = typia.createIs<ConnectionsAnswer>();

export interface CompanyAnswer {
  data: {
    companyId: string | null;
    publicId: string | null;
    name: string | null;
    tagline: string | null;
    description: string | null;
    url: string | null;
    websiteUrl: string | null;
    phone: string | null;
    employeeCount: (number & tags.Type<'uint32'>) | null;
    employeeCountRange: {
      start: (number & tags.Type<'uint32'>) | null;
      end: (number & tags.Type<'uint32'>) | null;
    } | null;
    foundedYear: Year | null;
    industries: string[] | null;
    specialties: string[] | null;
    logoUrl: string | null;
    coverImageUrl: string | null;
    headquarter: Place | null;
    locations: Place[] | null;
  };
}
export interface Place {
  city: string | null;
  country: string | null;
}
export const isCompany = typia.createIs<CompanyAnswer>();

export interface SentInvitationsAnswer {
  data: {
    invitationId: string & tags.MinLength<1>;
    sentAt: Milliseconds | null;
    message: string | null;
    recipient: {
      hashId: Id | null;
      publicId: string | null;
      firstName: string | null;
      lastName: string | null;
      headline: string | null;
    } | null;
  }[] &
    tags.MaxItems<10>;
  paging: { start: number; nextStart: number | null; total: (number & tags.Type<'uint32'>) | null };
}
export const isSentInvitations = typia.createIs<SentInvitationsAnswer>();
