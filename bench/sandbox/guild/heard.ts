import type { IncomingHttpHeaders } from 'node:http';
import type { Received } from '../http/dialect.js';
import { inverse, moved, type Words } from './translation.js';
import { ATTRIBUTE_WORDS, BODY_WORDS, COOKIES, FIELDS, GUILD_HOSTS, HEADERS, QUERY_WORDS } from './words.js';

const OWN_FIELDS = inverse(FIELDS);
const OWN_NAMES = inverse(ATTRIBUTE_WORDS.name as Words);

/** Stands for what the guild has no word for: nothing of the network is called so. */
const UNKNOWN = '-';

/** A request to the guild, in the network's own words. */
export function heard({ method, url, headers, body }: Received): Received {
  const type = headers['content-type'] ?? '';
  return { method, url: ownTarget(url), headers: ownHeaders(headers), body: ownBody(type, body) };
}

function ownBody(type: string, body: Buffer): Buffer {
  if (type.startsWith('application/x-www-form-urlencoded')) return ownForm(body);
  return type.startsWith('application/json') ? ownJson(body) : body;
}

/** A value, or each of a list's, as the network calls it. */
function ownWord(words: Readonly<Record<string, Words>>, field: string, value: string): string {
  const table = words[field];
  if (table === undefined) return value;
  const own = inverse(table);
  return value
    .split(',')
    .map((one) => own.get(one) ?? UNKNOWN)
    .join(',');
}

function ownTarget(url: string): string {
  const [path = '/', query] = url.split('?', 2) as [string, string?];
  const own = moved(path, 1) ?? (isFile(path) ? path : path.startsWith('/rpc/') ? `/api/${UNKNOWN}` : `/${UNKNOWN}`);
  if (query === undefined) return own;
  const parameters = [...new URLSearchParams(query)].map(([name, value]): [string, string] => {
    const field = OWN_FIELDS.get(name) ?? UNKNOWN;
    return [field, field === 'next' ? ownTarget(value) : ownWord(QUERY_WORDS, field, value)];
  });
  return `${own}?${new URLSearchParams(parameters)}`;
}

/** Paths of the host of files are the same on both: addresses of files are given, not made. */
function isFile(path: string): boolean {
  return /^\/(pictures|attachments|samples|moved|away)\b/.test(path);
}

function ownHeaders({ host = '', cookie = '', ...others }: IncomingHttpHeaders): IncomingHttpHeaders {
  const own = inverse(COOKIES);
  const cookies = cookie.split(';').flatMap((pair) => {
    const [, name = '', rest = ''] = /^\s*([^=]+)(=.*)$/.exec(pair) ?? [];
    return own.has(name) ? [own.get(name) + rest] : [];
  });
  const [ownHost = ''] = Object.entries(GUILD_HOSTS).find(([, guild]) => guild === hostName(host)) ?? [];
  const headers: IncomingHttpHeaders = { ...others, host: ownHost, cookie: cookies.join('; ') };
  for (const [name, guild] of HEADERS) headers[name] = others[guild];
  return headers;
}

/** Without the port, in lower case. */
export function hostName(host: string): string {
  return host.toLowerCase().replace(/:443$/, '');
}

function ownForm(body: Buffer): Buffer {
  const fields = [...new URLSearchParams(body.toString('utf8'))].map(([name, value]): [string, string] => {
    const field = OWN_NAMES.get(name) ?? UNKNOWN;
    return [field, field === 'next' ? ownTarget(value) : value];
  });
  return Buffer.from(new URLSearchParams(fields).toString());
}

function ownJson(body: Buffer): Buffer {
  try {
    return Buffer.from(JSON.stringify(ownValue(JSON.parse(body.toString('utf8')))));
  } catch {
    return body; // what is no JSON is refused as on the network
  }
}

function ownValue(value: unknown, field = ''): unknown {
  if (Array.isArray(value)) return value.map((one) => ownValue(one, field));
  if (typeof value === 'string') return BODY_WORDS[field] ? ownWord(BODY_WORDS, field, value) : value;
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).map(([name, one]): [string, unknown] => {
    const own = OWN_FIELDS.get(name) ?? UNKNOWN;
    return [own, own === 'renderContent' ? one : ownValue(one, own)]; // content of the sender's own
  });
  return Object.fromEntries(fields);
}
