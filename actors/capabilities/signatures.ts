import type { NoInput } from '../../browser-pool/contract/fields.js';
import type * as conversations from './conversations.js';
import type * as discovery from './discovery.js';
import type * as identity from './identity.js';
import type * as recruiter from './recruiter.js';
import type * as sending from './sending.js';
import type * as session from './session.js';

/** What goes into each capability and what a success gives back; a provider has one answer for every line. */
export interface Signatures {
  'social.login': Signature<session.LoginInput, session.LoginResult>;
  'social.health.check': Signature<NoInput, session.HealthCheckResult>;
  'social.recruiter.switch': Signature<session.RecruiterSwitchInput, session.RecruiterSwitchResult>;
  'social.identity.get': Signature<NoInput, identity.IdentityResult>;
  'social.profile.get': Signature<identity.ProfileGetInput, identity.ProfileGetResult>;
  'social.hash_ids.resolve': Signature<identity.HashIdsResolveInput, identity.HashIdsResolveResult>;
  'social.connections.list': Signature<identity.ConnectionsListInput, identity.ConnectionsListResult>;
  'social.company.get': Signature<identity.CompanyGetInput, identity.CompanyGetResult>;
  'social.invitations.sent.list': Signature<identity.InvitationsSentListInput, identity.InvitationsSentListResult>;
  'social.typeahead': Signature<discovery.TypeaheadInput, discovery.TypeaheadResult>;
  'social.people.search': Signature<discovery.PeopleSearchInput, discovery.PeopleSearchResult>;
  'social.jobs.search': Signature<discovery.JobsSearchInput, discovery.JobsSearchResult>;
  'social.recruiter.typeahead': Signature<recruiter.RecruiterTypeaheadInput, recruiter.RecruiterTypeaheadResult>;
  'social.recruiter.people.search': Signature<recruiter.RecruiterSearchInput, recruiter.RecruiterSearchResult>;
  'social.conversations.list': Signature<conversations.ConversationsListInput, conversations.ConversationsResult>;
  'social.conversations.search': Signature<conversations.ConversationsSearchInput, conversations.ConversationsResult>;
  'social.conversation.with_recipient': Signature<
    conversations.ConversationWithRecipientInput,
    conversations.ConversationWithRecipientResult
  >;
  'social.messages.list': Signature<conversations.MessagesListInput, conversations.MessagesListResult>;
  'social.message.send': Signature<sending.MessageSendInput, sending.MessageSendResult>;
  'social.invitation.send': Signature<sending.InvitationSendInput, sending.InvitationSendResult>;
  'social.attachment.send': Signature<sending.AttachmentSendInput, sending.AttachmentSendResult>;
  'social.file.download': Signature<sending.FileDownloadInput, sending.FileDownloadResult>;
}

export interface Signature<Input, Result> {
  input: Input;
  result: Result;
}

export type CapabilityName = keyof Signatures;

export type InputOf<Name extends CapabilityName> = Signatures[Name]['input'];

/** A result before the actor adds `state_revision` to it. */
export type AnswerOf<Name extends CapabilityName> = Omit<Signatures[Name]['result'], 'state_revision'>;
