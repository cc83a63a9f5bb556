import { accessSync, constants, readFileSync, statSync } from 'node:fs';
import { isIP } from 'node:net';
import { resolve } from 'node:path';
import ipaddr from 'ipaddr.js';

/** How the text of a variable becomes a value. */
export interface Kind<T> {
  /** What a value must be: ends the line of a refusal, and is a column of the table in `server/REFERENCE.md`. */
  wants: string;
  /** @throws Unusable */
  parse(text: string): T;
}

/** A text that a kind refuses; `part` is the wrong part of it, when not the whole is wrong. */
export class Unusable extends Error {
  constructor(
    readonly why?: string,
    readonly part?: string,
  ) {
    super(why);
  }
}

/** Any text, unchanged. */
export const text = (wants: string): Kind<string> => ({ wants, parse: (text) => text });

/** May hold a password: a refusal must not show it. */
export const httpAddress: Kind<string> = {
  wants: 'http://host:port or https://host:port, with or without a path',
  parse(text) {
    if (/^https?:\/\//.test(text) && URL.canParse(text)) return text;
    throw new Unusable();
  },
};

/** Of one PostgreSQL. It holds a password: a refusal does not show it. */
export const databaseAddress: Kind<string> = {
  wants: 'postgres://user:password@host:port/database',
  parse(text) {
    if (!/^postgres(ql)?:\/\/.+/.test(text)) throw new Unusable();
    // What libpq takes as a list; the driver would take it for one name.
    const hosts = text.replace(/^[^:]+:\/\/([^/?]*@)?/, '').replace(/[/?].*$/s, '');
    // Without a host where a socket is given by a parameter, which the driver takes.
    const url = URL.parse(text.replace('@/', '@localhost/'));
    if (hosts.includes(',') || url?.searchParams.get('host')?.includes(','))
      throw new Unusable('it names several hosts');
    if (!url) throw new Unusable('special characters of the password have to be percent-encoded');
    return text;
  },
};

/** Scheme, host and port alone, as browsers write an origin. */
export const origin: Kind<string> = {
  wants: 'an origin such as https://connections.example.com, without a path; http:// for this machine alone',
  parse(text) {
    const { protocol, origin, hostname = '' } = URL.canParse(text) ? new URL(text) : {};
    // People give passwords there.
    const isSafe =
      protocol === 'https:' || (protocol === 'http:' && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname));
    if (isSafe && origin === text.replace(/\/$/, '')) return origin;
    throw new Unusable();
  },
};

/** Plain decimals only: `1e3`, `0x10` and ` 8 ` are refused. */
export function wholeNumber(min: number, max: number, wants = `a whole number from ${min} to ${max}`): Kind<number> {
  return {
    wants,
    parse(text) {
      const number = Number(text);
      if (/^\d{1,9}$/.test(text) && number >= min && number <= max) return number;
      throw new Unusable();
    },
  };
}

/** A part of a whole, as a plain decimal. */
export const share: Kind<number> = {
  wants: 'a number from 0 to 1',
  parse(text) {
    const number = Number(text);
    if (/^\d(\.\d{1,9})?$/.test(text) && number <= 1) return number;
    throw new Unusable();
  },
};

export const port = wholeNumber(0, 65535, 'a port from 0 to 65535 (0 takes a free one)');

/** An IP address of this machine, or of all of its networks. */
export const address: Kind<string> = {
  wants: 'an IP address such as 127.0.0.1, 0.0.0.0 or ::',
  parse(text) {
    if (isIP(text) !== 0) return text;
    throw new Unusable();
  },
};

export function oneOf<const T extends string>(...values: T[]): Kind<T> {
  const last = values.at(-1) ?? '';
  return {
    wants: `${values.slice(0, -1).join(', ')} or ${last}`,
    parse(text) {
      const value = values.find((one) => one === text);
      if (value !== undefined) return value;
      throw new Unusable();
    },
  };
}

/** Texts separated by commas, each of which `accepts` must hold for. */
function listOf(accepts: (item: string) => boolean, wants: string): Kind<string[]> {
  return {
    wants: `${wants}, several separated by commas`,
    parse(text) {
      const items = text.split(',').map((item) => item.trim());
      const wrong = items.find((item) => !accepts(item));
      if (wrong !== undefined) throw new Unusable(undefined, wrong);
      return items;
    },
  };
}

export const networks = listOf((item) => ipaddr.isValidCIDR(item), 'networks such as 127.0.0.0/8');
export const nameServers = listOf(isNameServer, 'addresses such as 9.9.9.9 or [2620:fe::fe]:53');

const portNumbers = listOf((item) => /^[1-9]\d{0,4}$/.test(item) && Number(item) <= 65535, 'ports from 1 to 65535');

export const ports: Kind<number[]> = {
  wants: portNumbers.wants,
  parse: (text) => portNumbers.parse(text).map(Number),
};

/** True for `address` and `address:port`, an IPv6 address in brackets. Checked exactly: port 0 ends Node's process. */
function isNameServer(text: string): boolean {
  if (!URL.canParse(`dns://${text}`)) return false;
  const { host, hostname, port } = new URL(`dns://${text}`);
  return host === text && port !== '0' && isIP(hostname.replace(/^\[|\]$/g, '')) !== 0;
}

/** The absolute path of a folder, which need not be there. */
export const folder: Kind<string> = { wants: 'a folder', parse: (text) => resolve(text) };

/** The absolute path of a file that this process can read. */
export const readableFile = (wants: string): Kind<string> => ({ wants, parse: readable });

export const certificateFile: Kind<string> = {
  wants: 'a readable PEM file with a certificate',
  parse(text) {
    const file = readable(text);
    if (readFileSync(file, 'utf8').includes('-----BEGIN CERTIFICATE-----')) return file;
    throw new Unusable('no certificate in it');
  },
};

function readable(text: string): string {
  const file = resolve(text);
  try {
    accessSync(file, constants.R_OK);
    if (statSync(file).isFile()) return file;
  } catch {
    // Refused below, like a folder.
  }
  throw new Unusable();
}
