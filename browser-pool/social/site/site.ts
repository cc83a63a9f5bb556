/**
 * The one description of the provider's site: where it is, which pages and endpoints it has, how its pages are read.
 * Plain data, so that it crosses threads. Pointing the service at a provider means writing this, and the shapes of its
 * answers (`answers.ts`). The stand-in's values are in `stand-in.ts`.
 */
export interface Site {
  /** `https://host`, without a slash at the end. */
  origin: string;
  /** The provider's own domains: a host is the provider's when it is one of them or below one. */
  domains: string[];
  /** A CA of the site's own, as PEM; left out when the usual ones vouch for it. */
  ca?: string;
  /** Base64 SHA-256 of the site's public key, for the browser; only together with `ca`. */
  spki?: string;
  /** The csrf token stands in a cookie and is repeated in a header on every JSON request. */
  csrf: { cookie: string; header: string };
  /** Header that names an uploaded file, percent-encoded. */
  fileNameHeader: string;
  /** Where a page names its kind: `attribute` of `selector`. */
  pageMark: { selector: string; attribute: string };
  /** The marks of the pages that programs know. */
  pages: Record<PageKind, string>;
  paths: {
    login: string;
    feed: string;
    restricted: string;
    /** Where a recruiter session chooses its contract. */
    recruiterContracts: string;
    me: string;
    resolve: string;
    /** `{id}` is the public id. */
    profile: string;
    companies: string;
    connections: string;
    /** Takes invitations. */
    invitations: string;
    sentInvitations: string;
    typeahead: string;
    peopleSearch: string;
    jobSearch: string;
    /** `{id}` is the job. */
    job: string;
    recruiterTypeahead: string;
    recruiterSearch: string;
    conversations: string;
    /** `{id}` is the conversation. */
    conversationMessages: string;
    conversationSearch: string;
    /** `{id}` is the other person's hash id. */
    conversationWith: string;
    messages: string;
    /** Takes files that a message then carries. */
    attachments: string;
    stream: string;
  };
  selectors: {
    username: string;
    password: string;
    loginSubmit: string;
    /** There when the sign-in before was refused. */
    loginRefused: string;
    challenge: string;
    challengeKind: { attribute: string };
    code: string;
    codeSubmit: string;
    identity: string;
    identityHashId: { attribute: string };
    /** One form a contract. */
    contract: string;
    contractId: { attribute: string };
    contractName: { attribute: string };
    /** `true` on the contract the session works under. */
    contractCurrent: { attribute: string };
    /** The button that chooses; `{id}` is the contract. */
    contractSubmit: string;
    /** The contract a recruiter session works under. */
    seat: string;
  };
}

export type PageKind =
  | 'login'
  | 'challenge'
  | 'challengeExpired'
  | 'restricted'
  | 'feed'
  | 'recruiter'
  | 'recruiterContracts'
  | 'recruiterUnavailable'
  | 'forbidden'
  | 'notFound'
  | 'error';

/** A path with its `{name}`s replaced, percent-encoded. */
export function withNames(path: string, names: Record<string, string>): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(names[name] ?? ''));
}
