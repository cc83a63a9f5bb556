import { hash } from 'node:crypto';

/** The strong validator of what these texts say together (RFC 9110, 8.8.3), in its quotes. */
export function validatorOf(...texts: string[]): string {
  return `"${hash('sha1', texts.join('\n'), 'base64url')}"`;
}

/** True when `If-None-Match` names this validator, or any: the client has a copy that is still current (RFC 9110, 13.1.2). */
export function isKnown(validator: string, ifNoneMatch: string): boolean {
  if (ifNoneMatch === '') return false;
  const known = ifNoneMatch.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return known.includes(validator) || known.includes('*');
}
