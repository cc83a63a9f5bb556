/**
 * The one description of the provider's site: where it is, which pages and endpoints it has, how its pages are read.
 * Plain data, so that it crosses threads. Pointing the service at a provider means writing this, and the shapes of its
 * answers (`answers.ts`).
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
  /** What a page says it is: `attribute` of `selector`. */
  pageMark: { selector: string; attribute: string };
  /** The marks of the pages that programs know. */
  pages: Record<PageKind, string>;
  paths: {
    login: string;
    feed: string;
    restricted: string;
    me: string;
    resolve: string;
    peopleSearch: string;
    conversations: string;
    /** `{id}` is the conversation. */
    conversationMessages: string;
    messages: string;
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
  };
}

export type PageKind =
  | 'login'
  | 'challenge'
  | 'challengeExpired'
  | 'restricted'
  | 'feed'
  | 'forbidden'
  | 'notFound'
  | 'error';

/** What is known only when the service starts. */
export interface SiteAccess {
  origin: string;
  ca?: string;
  spki?: string;
}

/** The professional network as the stand-in plays it, at the given place. */
export function socialSite(access: SiteAccess): Site {
  return {
    ...access,
    domains: ['social.test'],
    csrf: { cookie: 'sn_csrf', header: 'X-Csrf-Token' },
    pageMark: { selector: 'body', attribute: 'data-page' },
    pages: {
      login: 'login',
      challenge: 'challenge',
      challengeExpired: 'challenge-expired',
      restricted: 'restricted',
      feed: 'feed',
      forbidden: 'forbidden',
      notFound: 'not-found',
      error: 'error',
    },
    paths: {
      login: '/login',
      feed: '/feed',
      restricted: '/checkpoint/restricted',
      me: '/api/me',
      resolve: '/api/members/resolve',
      peopleSearch: '/api/search/people',
      conversations: '/api/conversations',
      conversationMessages: '/api/conversations/{id}/messages',
      messages: '/api/messages',
      stream: '/realtime',
    },
    selectors: {
      username: '#username',
      password: '#password',
      loginSubmit: '#login-submit',
      loginRefused: '#login-error',
      challenge: '#challenge',
      challengeKind: { attribute: 'data-challenge-kind' },
      code: '#code',
      codeSubmit: '#challenge-submit',
      identity: '#identity',
      identityHashId: { attribute: 'data-hash-id' },
    },
  };
}

/** A path with its `{name}`s replaced, percent-encoded. */
export function withNames(path: string, names: Record<string, string>): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(names[name] ?? ''));
}
