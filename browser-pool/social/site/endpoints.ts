import type { ConversationsListInput, ConversationsSearchInput } from '../../contract/conversations.js';
import type { JobFilters, PeopleFilters } from '../../contract/discovery.js';
import type { FilterType, GeoScope, RecruiterFilters, TimeScope } from '../../contract/recruiter.js';
import type {
  ConversationsAnswer,
  ConversationWithAnswer,
  InvitedAnswer,
  MeAnswer,
  MessagesAnswer,
  PeopleAnswer,
  ResolveAnswer,
  SentAnswer,
  UploadAnswer,
} from './answers.js';
import type { CompanyAnswer, ConnectionsAnswer, ProfileAnswer, SentInvitationsAnswer } from './directory-answers.js';
import type { Names } from './names.js';
import type { CandidatesAnswer, JobAnswer, JobsAnswer, SuggestionKind, TypeaheadAnswer } from './search-answers.js';

/** What a program asks of an endpoint and what that answers, both by the service's names. */
interface Exchange<Request, Answer, MayLack extends keyof Request = never> {
  request: Request;
  answer: Answer;
  /** Parameters that a site of the kind may not have. */
  mayLack: MayLack;
}

/** Every JSON endpoint that programs use. */
export interface Exchanges {
  me: Exchange<Nothing, MeAnswer>;
  resolve: Exchange<{ publicIds: string[] }, ResolveAnswer>;
  /** `id` is the public id. */
  profile: Exchange<{ id: string }, ProfileAnswer>;
  companies: Exchange<{ publicId?: string; companyId?: string; name?: string }, CompanyAnswer>;
  connections: Exchange<Page, ConnectionsAnswer>;
  /** Takes invitations. */
  invitations: Exchange<{ recipientHashId: string; message?: string }, InvitedAnswer>;
  sentInvitations: Exchange<{ start: number; includeTotal?: true }, SentInvitationsAnswer>;
  typeahead: Exchange<Keyword, TypeaheadAnswer>;
  peopleSearch: Exchange<Search & { [Facet in PeopleFacet]?: string }, PeopleAnswer, PeopleFacet>;
  jobSearch: Exchange<Search & { decorationId?: string } & { [Facet in JobFacet]?: string }, JobsAnswer, JobFacet>;
  /** `id` is the job. */
  job: Exchange<{ id: string }, JobAnswer>;
  recruiterTypeahead: Exchange<Keyword, TypeaheadAnswer>;
  recruiterSearch: Exchange<RecruiterQuery & Page, CandidatesAnswer>;
  conversations: Exchange<
    InboxPage & { category?: NonNullable<ConversationsListInput['category']>; lastActivityBefore?: number | string },
    ConversationsAnswer
  >;
  conversationSearch: Exchange<
    InboxPage & { keywords: string; categories: SearchedCategory[]; firstDegree?: true },
    ConversationsAnswer
  >;
  /** `id` is the conversation. */
  conversationMessages: Exchange<InboxPage & { id: string; deliveredBefore?: number | string }, MessagesAnswer>;
  /** `id` is the other person's hash id. */
  conversationWith: Exchange<{ id: string }, ConversationWithAnswer>;
  /** Takes messages: to one of two destinations, with what was uploaded before. */
  messages: Exchange<MessageRequest, SentAnswer>;
  /** Takes files that a message then carries. */
  attachments: Exchange<Nothing, UploadAnswer>;
}
export type EndpointName = keyof Exchanges;
export type AnswerOf<Name extends EndpointName> = Exchanges[Name]['answer'];
/** What may be left out may be undefined, too. */
export type RequestOf<Name extends EndpointName> = MayBeUndefined<Exchanges[Name]['request']>;
type MayBeUndefined<T> = {
  [Field in keyof T]: Pick<T, Field> extends Required<Pick<T, Field>> ? T[Field] : T[Field] | undefined;
};

/** One endpoint of the site. */
interface Endpoint<Request, Answer, MayLack extends keyof Request> {
  /** With `{id}` where the request's id stands. */
  path: string;
  /** In the query where it is read, where lists are joined by commas; in the body where it takes one. */
  parameters: Names<Omit<Request, 'id' | MayLack>> & Partial<Names<Pick<Request, MayLack>>>;
  answer: Names<Answer>;
}
export type SiteEndpoints = {
  [Name in EndpointName]: Endpoint<
    Exchanges[Name]['request'],
    AnswerOf<Name>,
    Exchanges[Name]['mayLack'] & keyof Exchanges[Name]['request']
  >;
};

type Nothing = Record<never, never>;

interface Page {
  start: number;
  count: number;
}

interface InboxPage {
  count?: number;
  cursor?: string;
}

interface Search extends Page {
  keywords?: string;
}

/** What a typeahead is asked. */
export interface Keyword {
  kind: SuggestionKind;
  keyword: string;
}

/** Filters that a search takes as they are; the others name something that typeahead turns into an id. */
export type PeopleFacet = Exclude<
  keyof PeopleFilters,
  | 'location_name'
  | 'current_company_name'
  | 'past_company_name'
  | 'industry_name'
  | 'connection_of_name'
  | 'follower_of_name'
  | 'school_name'
  | 'service_category_name'
>;
export type JobFacet = Exclude<
  keyof JobFilters,
  'location_name' | 'company_name' | 'function_name' | 'industry_name' | 'populated_place_name' | 'title_name'
>;

type SearchedCategory = NonNullable<ConversationsSearchInput['categories']>[number];

interface MessageRequest {
  conversationId?: string;
  recipientHashId?: string;
  body: string;
  renderContent?: Record<string, unknown>[];
  /** Urns of uploads. */
  attachments?: string[];
}

/** One entry of a recruiter's filter. */
export interface Criterion {
  id: string;
  filter?: FilterType;
}

/** One that says when, or where. */
export interface Scoped<Scope extends string> extends Criterion {
  scope?: Scope;
}

/** The recruiter's filters as the search takes them, with ids for names. */
export interface RecruiterQuery {
  keywords?: string;
  titles?: Scoped<TimeScope>[];
  companies?: Scoped<TimeScope>[];
  locations?: Scoped<GeoScope>[];
  skills?: Criterion[];
  schools?: Criterion[];
  industries?: Criterion[];
  currentCompanies?: Criterion[];
  pastCompanies?: Criterion[];
  firstNames?: string[];
  lastNames?: string[];
  zipCodes?: string[];
  companySizes?: NonNullable<RecruiterFilters['company_sizes']>;
  jobFunctions?: number[];
  seniorities?: number[];
  networks?: NonNullable<RecruiterFilters['networks']>;
  profileLanguages?: string[];
  recentlyJoined?: number;
  graduationYear?: { min?: number; max?: number };
  yearsOfExperience?: { min?: number; max?: number };
  veteran?: boolean;
  distance?: number;
}
