import { createHash } from 'node:crypto';
import { badRequest } from '../http/answer.js';

/**
 * Opaque page cursors: what they hold, and a check that the site made them for this very list. `scope` names the
 * list (endpoint, category, conversation ...), so that a cursor is refused anywhere else.
 */
export function makeCursor(scope: string, position: readonly (string | number)[]): string {
  const text = JSON.stringify(position);
  return Buffer.from(`${check(scope, text)}${text}`).toString('base64url');
}

export function readCursor(scope: string, cursor: string): (string | number)[] {
  const text = Buffer.from(cursor, 'base64url').toString('utf8');
  const position = text.slice(CHECK_CHARACTERS);
  if (check(scope, position) !== text.slice(0, CHECK_CHARACTERS)) throw badRequest('cursor is not one of this list.');
  return JSON.parse(position) as (string | number)[];
}

const CHECK_CHARACTERS = 8;

function check(scope: string, text: string): string {
  return createHash('sha256').update(`${scope}\u0000${text}`).digest('base64url').slice(0, CHECK_CHARACTERS);
}
