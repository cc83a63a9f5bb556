import { readFile } from 'node:fs/promises';
import { text as textOf } from 'node:stream/consumers';
import { CommanderError, InvalidArgumentError } from 'commander';
import typia, { type tags } from 'typia';
import type { NewProxy } from '../../storage/connections/proxies.js';
import { type AuditAction, isAuditAction } from '../../storage/model/audit.js';
import { SCOPES, type Scope } from '../../storage/model/records.js';
import { WORKSPACE_LIMITS, type WorkspaceLimit } from '../../storage/workspaces/limits.js';
import type { Uuid } from '../http/fields.js';
import { isNetwork } from '../http/identity/client-address.js';

/* Each function turns one argument of the command line into a value, or refuses it in words that end the error's line. */

export function name(text: string): string {
  const trimmed = text.trim();
  if (typia.is<string & tags.MinLength<1> & tags.MaxLength<255>>(trimmed)) return trimmed;
  throw new InvalidArgumentError('It wants 1 to 255 characters.');
}

/** Of a person, as the network names them. */
export function identifier(text: string): string {
  const trimmed = text.trim();
  if (typia.is<string & tags.MinLength<1> & tags.MaxLength<255>>(trimmed)) return trimmed;
  throw new InvalidArgumentError('It wants 1 to 255 characters.');
}

export function count(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It wants a whole number from 0 to 999999999.');
}

export function id(text: string): string {
  if (typia.is<Uuid>(text)) return text.toLowerCase();
  throw new InvalidArgumentError('It wants a UUID.');
}

/** `a,b` as a list of distinct scopes. */
export function scopes(text: string): Scope[] {
  const list = text.split(',').map((scope) => scope.trim());
  const known = list.filter((scope): scope is Scope => SCOPES.some((s) => s === scope));
  if (known.length === list.length) return [...new Set(known)];
  throw new InvalidArgumentError(`It wants scopes out of ${SCOPES.join(', ')}.`);
}

/** `a,b` as a list of distinct networks. */
export function cidrs(text: string): string[] {
  const list = text.split(',').map((network) => network.trim());
  if (list.every(isNetwork)) return [...new Set(list)];
  throw new InvalidArgumentError('It wants networks such as 10.0.0.0/8,2001:db8::/32.');
}

/** An ISO 8601 date or date-time in the future. */
export function futureTime(text: string): Date {
  const time = isoTime(text);
  if (time.getTime() <= Date.now()) throw new InvalidArgumentError('It wants a time in the future.');
  return time;
}

const UNIT_MS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** `90s`, `15m`, `24h`, `7d` or `0` in milliseconds; at most a year. */
export function duration(text: string): number {
  const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const ms = text === '0' ? 0 : Number(count) * UNIT_MS[(unit ?? 's') as keyof typeof UNIT_MS];
  if (ms <= 365 * UNIT_MS.d) return ms;
  throw new InvalidArgumentError('It wants a duration such as 90s, 15m, 24h or 7d, at most a year.');
}

export function workspaceLimit(text: string): WorkspaceLimit {
  const known = WORKSPACE_LIMITS.find((limit) => limit === text);
  if (known) return known;
  throw new InvalidArgumentError(`It wants one of ${WORKSPACE_LIMITS.join(', ')}.`);
}

/** Of a limit. */
export function limitValue(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It wants a whole number from 1 to 999999999.');
}

export function auditAction(text: string): AuditAction {
  if (isAuditAction(text)) return text;
  throw new InvalidArgumentError('It wants an action such as connection.create.');
}

/** An ISO 8601 date or date-time. */
export function isoTime(text: string): Date {
  const time = /^\d{4}-\d{2}-\d{2}/.test(text) ? new Date(text) : new Date(Number.NaN);
  if (Number.isNaN(time.getTime())) throw new InvalidArgumentError('It wants an ISO 8601 time.');
  return time;
}

/** Rows of a page. */
export function pageLimit(text: string): number {
  if (/^\d{1,3}$/.test(text) && Number(text) >= 1 && Number(text) <= 100) return Number(text);
  throw new InvalidArgumentError('It wants a whole number from 1 to 100.');
}

export function region(text: string): string {
  if (/^[A-Za-z]{2}$/.test(text)) return text.toUpperCase();
  throw new InvalidArgumentError('It wants two letters.');
}

/** A forward proxy's address; its credentials are separated, so that they can be encrypted. An error never shows the address. */
export function proxyUrl(text: string): Omit<NewProxy, 'region'> {
  const url = URL.canParse(text) ? new URL(text) : null;
  const bare = url?.pathname.replace('/', '') === '' && url.search === '' && url.hash === '';
  if (!url || url.hostname === '') throw badProxy('http://user:password@host:port');
  if (/^socks/.test(url.protocol))
    throw badProxy('http: or https:, because writes, files and streams do not go through SOCKS');
  if (!bare || !['http:', 'https:'].includes(url.protocol)) throw badProxy('http://user:password@host:port');
  const [username, password] = [url.username, url.password].map(decoded);
  if (username === '' && password !== '') throw badProxy('a name before the password');
  if (username?.includes(':')) throw badProxy('a name without a colon, at which proxies end it');
  return { url: `${url.protocol}//${url.host}`, ...(username !== '' && { username, password }) };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw badProxy('%25 for a percent sign in its name and password');
  }
}

/** An InvalidArgumentError would repeat the argument, password and all. */
const badProxy = (wanted: string) =>
  new CommanderError(1, 'admin.proxyUrl', `the proxy's address (--url, --url-file) wants ${wanted}`);

/** What a file holds, or for `-` standard input; white space at either end does not count. */
export async function readAddress(file: string): Promise<string> {
  if (file === '-') return (await textOf(process.stdin)).trim();
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new CommanderError(1, 'admin.readAddress', `the file ${file} cannot be read (${error.code})`);
  });
  return text.trim();
}
