import { LIMITS } from '../limits.js';

export const SESSION_COOKIE = 'sn_session';
export const CSRF_COOKIE = 'sn_csrf';

const SCOPE = 'Domain=social.test; Path=/; Secure; SameSite=Lax';

export function sessionCookie(token: string): string {
  return `${SESSION_COOKIE}=${token}; ${SCOPE}; HttpOnly; Max-Age=${LIMITS.cookie_seconds}`;
}

/** Makes the browser forget a session that has ended. */
export function endedSessionCookie(): string {
  return `${SESSION_COOKIE}=; ${SCOPE}; HttpOnly; Max-Age=0`;
}

/** Readable by scripts: it comes back in a header or a form field. */
export function csrfCookie(value: string): string {
  return `${CSRF_COOKIE}=${value}; ${SCOPE}; Max-Age=${LIMITS.cookie_seconds}`;
}
