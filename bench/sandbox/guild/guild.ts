import type { Dialect } from '../http/dialect.js';
import { heard, hostName } from './heard.js';
import { said, saidCookie, saidFrame } from './said.js';
import { GUILD_HOSTS } from './words.js';

/**
 * The network as the guild: the same people and accounts at other hosts, with another word for everything that a program says
 * or hears (NET-10). A word that the tables lack is an error, so that no name can be the same on both by oversight; a request in
 * the network's own words is one that the guild does not understand.
 */
export const GUILD: Dialect = { heard, said, cookie: saidCookie, frame: saidFrame };

/** Whether a request to this host is one to the guild. */
export function isGuildHost(host: string | undefined): boolean {
  return Object.values(GUILD_HOSTS).includes(hostName(host ?? ''));
}
