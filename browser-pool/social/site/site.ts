import type { ChallengeKind } from '../../../storage/model/records.js';
import type { SkipReason } from '../../contract/signature.js';
import type { SiteStream } from './activities.js';
import type { RefusalAnswer } from './answers.js';
import type { JobFacet, PeopleFacet, SiteEndpoints } from './endpoints.js';
import type { FileContent } from './file-content.js';
import type { Names } from './names.js';

/**
 * The one description of the provider's site: where it is, which pages and endpoints it has, how its pages are read, and
 * what it calls everything that a program says and hears. Plain data, so that it crosses threads and stands in a file.
 * Programs know the service's names only (POOL-21). The stand-in's values are in `stand-in.ts`.
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
  /**
   * Statuses by which it refuses a request, and has done nothing: any other answer to a write leaves open what happened (OPS-21).
   * Absent: 400, 401, 403, 404, 405, 409, 413, 415, 422 and 429.
   */
  refusals?: number[];
  /** How its JSON endpoints put a refusal. */
  refusal: Names<RefusalAnswer>;
  /** The refusals that mean something of their own; any other means what its status does. */
  refusalCodes: Record<RefusalKind, { status: number; code: string }>;
  /** Codes by which it answers an invitation that leaves nothing to do (OPS-7). */
  invitationSkips: Record<Extract<SkipReason, 'already_connected' | 'invitation_pending'>, string>;
  /** Header that names an uploaded file, percent-encoded. */
  fileNameHeader: string;
  /** How a message shows the file that it carries. */
  messageFile: Names<FileContent>;
  /** Where a page names its kind: `attribute` of `selector`. */
  pageMark: { selector: string; attribute: string };
  /** The marks of the pages that programs know. */
  pages: Record<PageKind, string>;
  /** Pages that programs open, or are sent to. */
  paths: {
    login: string;
    feed: string;
    restricted: string;
    /** Checks of an account stand there or below. */
    checkpoint: string;
    /** Where a recruiter session chooses its contract. */
    recruiterContracts: string;
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
    /** Has this value on the contract the session works under. */
    contractCurrent: { attribute: string; value: string };
    /** The button that chooses; `{id}` is the contract. */
    contractSubmit: string;
    /** The contract a recruiter session works under. */
    seat: string;
    seatContractId: { attribute: string };
  };
  /** What a challenge's page calls its kind. */
  challenges: Record<ChallengeKind, string>;
  endpoints: SiteEndpoints;
  /** Filters that take one value only; all others take several, any of which fits. */
  singleFacets: { people: PeopleFacet[]; jobs: JobFacet[] };
  stream: SiteStream;
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

export type RefusalKind =
  /** A value of the request that the site does not know. */
  | 'badRequest'
  | 'accountRestricted'
  /** The recipient is the account itself. */
  | 'selfTarget'
  /** The account has no recruiter seat. */
  | 'recruiterUnavailable'
  /** The session has chosen no contract. */
  | 'recruiterContractRequired'
  /** A recruiter's filter that makes no sense. */
  | 'invalidFilter';

/** A path or selector with its `{name}`s replaced, percent-encoded. */
export function withNames(path: string, names: Record<string, string>): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(names[name] ?? ''));
}

/** Arguments by which a browser trusts the site's own CA, when it has one: by the fingerprint of the key. */
export function trustingArguments({ spki }: Site): string[] {
  return spki === undefined ? [] : [`--ignore-certificate-errors-spki-list=${spki}`];
}
