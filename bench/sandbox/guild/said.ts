import type { Answer } from '../http/answer.js';
import { moved, word } from './translation.js';
import { ANSWER_WORDS, ATTRIBUTE_WORDS, ATTRIBUTES, COOKIES, FIELDS, FRAMES, GUILD_HOSTS, STATUSES } from './words.js';

/** An answer of the network, in the guild's words. */
export function said(answer: Answer): Answer {
  return 'stream' in answer ? answer : { ...translated(answer), headers: guildHeaders(answer.headers) };
}

/** A `Set-Cookie` line. */
export function saidCookie(line: string): string {
  const [, name = '', rest = ''] = /^([^=]+)(=.*)$/.exec(line) ?? [];
  return word(COOKIES, name) + rest.replace('Domain=social.test', 'Domain=guild.test');
}

/** A frame of the event stream. */
export function saidFrame(event: string, data: Record<string, unknown>): { event: string; data: unknown } {
  return { event: word(FRAMES, event), data: guildJson(data) };
}

type Written = Exclude<Answer, { stream: unknown }>;

function translated(answer: Written): Written {
  const type = answer.headers['content-type'] ?? '';
  if (type.startsWith('text/html')) return { ...answer, body: guildPage(String(answer.body)) };
  if (!type.startsWith('application/json')) return answer;
  const json = JSON.parse(String(answer.body)) as { error?: { status: number; code: string } };
  const status = STATUSES[json.error?.code ?? ''] ?? answer.status;
  if (json.error) json.error.status = status;
  return { ...answer, status, body: JSON.stringify(guildJson(json)) };
}

function guildJson(value: unknown, field = ''): unknown {
  if (Array.isArray(value)) return value.map((one) => guildJson(one, field));
  if (typeof value === 'string') {
    const words = ANSWER_WORDS[field];
    return words ? word(words, value) : guildAddress(value);
  }
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).map(([name, one]) => {
    return [word(FIELDS, name), name === 'renderContent' ? guildContent(one) : guildJson(one, name)];
  });
  return Object.fromEntries(fields);
}

/** Content of messages: uploads are the site's to describe, the rest is its sender's. */
function guildContent(content: unknown): unknown {
  const upload = (one: object) => Object.keys(one).join() === 'attachment';
  return Array.isArray(content) ? content.map((one) => (upload(one) ? guildJson(one) : one)) : content;
}

/** An address on the network's hosts, on the guild's. Other texts stay as they are. */
function guildAddress(text: string): string {
  const [, host = '', rest] = /^https:\/\/([a-z.]+)(\/.*)?$/s.exec(text) ?? [];
  return GUILD_HOSTS[host] === undefined ? text : `https://${GUILD_HOSTS[host]}${rest ?? ''}`;
}

function guildHeaders({ location, ...others }: Record<string, string>): Record<string, string> {
  if (location === undefined) return others;
  const [, origin = '', target = ''] = /^(https:\/\/[^/]+)?(.*)$/s.exec(location) ?? [];
  return { ...others, location: guildAddress(origin) + guildTarget(target) };
}

/** A path of the network and its query, as the guild has them. */
function guildTarget(target: string): string {
  const [path = '', query] = target.split('?', 2) as [string, string?];
  const parameters = [...new URLSearchParams(query)].map(([name, value]): [string, string] => {
    return [word(FIELDS, name), name === 'next' ? guildTarget(value) : value];
  });
  return (moved(path, 0) ?? path) + (query === undefined ? '' : `?${new URLSearchParams(parameters)}`);
}

/** A page with its marks, ids, names of fields and addresses in the guild's words; its kind stands in an element of its own. */
function guildPage(html: string): string {
  return html
    .replace(/<[a-z][^>]*>/g, guildTag)
    .replace(/<body data-room="([^"]*)"(.*)>/, '<body$2><i id="room" data-room="$1"></i>')
    .replaceAll('sn.device', 'gd.device');
}

function guildTag(tag: string): string {
  return tag.replace(/\s([a-z-]+)="([^"]*)"/g, (_, attribute: string, value: string) => {
    const name = attribute.startsWith('data-') ? word(ATTRIBUTES, attribute) : attribute;
    const leads = ['action', 'href'].includes(attribute) || (attribute === 'value' && tag.includes(' name="next"'));
    if (leads && value.startsWith('/')) return ` ${name}="${guildTarget(value)}"`;
    const words = ATTRIBUTE_WORDS[attribute];
    return ` ${name}="${words ? word(words, value) : value}"`;
  });
}
