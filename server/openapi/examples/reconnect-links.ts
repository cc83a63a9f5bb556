import type {
  LinkCodeInput,
  LinkLoginInput,
  LinkProgressJson,
  OpenedLinkJson,
  OpenLinkInput,
  PageInput,
} from '../../routes/connections/reconnect.js';
import type { ReconnectLinkJson } from '../../routes/connections/reconnect-link.js';
import { CHALLENGE, EXPIRY } from './values.js';

/** A link that proves nothing: it only shows what one looks like. */
const TOKEN = 'AZmAAAAAcACAAAAAAAAAD3Rva2VuLXRoYXQtcHJvdmVzLW5vdGhpbmctYXQt';
const PAGE = 'cGFnZS1zZWNyZXQtdGhhdC1wcm92ZXMtbm90aGluZy0';

export const link: ReconnectLinkJson = {
  url: `https://connections.example.com/reconnect#${TOKEN}`,
  expires_at: EXPIRY,
};
export const open: OpenLinkInput = { token: TOKEN };
export const page: PageInput = { token: TOKEN, page: PAGE };
export const login: LinkLoginInput = { ...page, password: 'a-password' };
export const code: LinkCodeInput = { ...page, challenge_id: CHALLENGE, code: '000000' };
export const opened: OpenedLinkJson = {
  workspace: 'Acme',
  account: 'a•••@example.com',
  needs_password: true,
  used: false,
  expires_at: EXPIRY,
};
export const waiting: LinkProgressJson = {
  status: 'waiting_user',
  challenge: { id: CHALLENGE, kind: 'sms', expires_at: EXPIRY, accepts_code: true },
  error_code: null,
  tries_left: 4,
};
export const refused: LinkProgressJson = {
  status: 'failed',
  challenge: null,
  error_code: 'authentication_failed',
  tries_left: 4,
};
