import type { Member } from '../data/members.js';
import type { Account } from './accounts.js';
import type { State } from './state.js';

/** The identity that the site shows to an account: its own, unless `shown_as` names another. */
export function shownMember(state: State, account: Account): Member {
  const other = account.settings.shown_as;
  return other === null ? account.member : state.account(other).member;
}
