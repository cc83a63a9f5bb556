import type { tags } from 'typia';
import type { Directory } from '../data/directory.js';
import type { Member } from '../data/members.js';

export type ChallengeKind = 'email' | 'sms' | 'authenticator' | 'approval' | 'captcha' | 'passkey';

/** How an account behaves. Markers in the username set it (`ada+email`), the control API changes it. */
export interface AccountSettings {
  password: string;
  /** Raised at every sign-in; null for none. */
  challenge: ChallengeKind | null;
  restricted: boolean;
  /** Has a seat on the recruiter side. */
  recruiter: boolean;
  /** Raised whenever a contract is chosen there; null for none. */
  recruiter_challenge: ChallengeKind | null;
  /** Username of the account whose identity the site shows instead of its own; null for its own. */
  shown_as: string | null;
  /** Every so many requests of a session the site gives it another cookie and refuses the one of before; null for never. */
  renew_session_every: (number & tags.Type<'uint32'> & tags.Minimum<1>) | null;
}

export interface Account {
  username: string;
  member: Member;
  settings: AccountSettings;
}

const MARKER =
  /\+(switch-email|switch-sms|switch-authenticator|switch-approval|switch-captcha|email|sms|authenticator|approval|captcha|passkey|restricted|recruiter|norecruiter)(?![a-z])/gi;

/** Accounts by username, which is compared trimmed and without case. */
export class Accounts {
  readonly #directory: Directory;
  readonly #accounts = new Map<string, Account>();
  readonly #byMember = new Map<string, Account>();

  constructor(directory: Directory) {
    this.#directory = directory;
  }

  find(username: string): Account | undefined {
    return this.#accounts.get(keyOf(username));
  }

  /** The account behind a member, when there is one. */
  ofMember(hashId: string): Account | undefined {
    return this.#byMember.get(hashId);
  }

  /** Adds the account when it is new, and changes what `changes` names. Called for live and for replayed records alike. */
  apply(username: string, changes: Partial<AccountSettings>): Account {
    const key = keyOf(username);
    const known = this.#accounts.get(key);
    if (known !== undefined) {
      Object.assign(known.settings, changes);
      return known;
    }
    const account: Account = {
      username: username.trim(),
      member: this.#directory.accountMember(key),
      settings: { ...settingsFrom(key), ...changes },
    };
    this.#accounts.set(key, account);
    this.#byMember.set(account.member.hashId, account);
    return account;
  }
}

function keyOf(username: string): string {
  return username.trim().toLowerCase();
}

function settingsFrom(username: string): AccountSettings {
  const settings: AccountSettings = {
    password: 'sandbox',
    challenge: null,
    restricted: false,
    recruiter: true,
    recruiter_challenge: null,
    shown_as: null,
    renew_session_every: null,
  };
  for (const [, marker] of username.matchAll(MARKER)) {
    switch (marker) {
      case 'restricted':
        settings.restricted = true;
        break;
      case 'recruiter':
        settings.recruiter = true;
        break;
      case 'norecruiter':
        settings.recruiter = false;
        break;
      case 'switch-email':
      case 'switch-sms':
      case 'switch-authenticator':
      case 'switch-approval':
      case 'switch-captcha':
        settings.recruiter_challenge = marker.slice('switch-'.length) as ChallengeKind;
        break;
      default:
        settings.challenge = marker as ChallengeKind;
    }
  }
  return settings;
}
