import { readFile } from 'node:fs/promises';
import { type Dispatcher, ProxyAgent, request } from 'undici';
import type { Ready } from '../../bench/sandbox/network.js';
import type { Owner } from './fixture.js';

export interface Page {
  status: number;
  location: string | null;
  text: string;
  /** What the page says it is. */
  name: string | null;
}

export interface ApiAnswer<Body> {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Body;
}

/** A page of a list, as every list endpoint gives it. */
export interface Listed<Row> {
  data: Row[];
  paging: { total: number; nextCursor: string | null };
}

export interface Person {
  hashId: string;
  publicId: string;
  name: string;
  distance: string;
}

export interface ConversationRow {
  id: string;
  urn: string;
  category: string;
  participants: Person[];
  unreadCount: number;
  lastActivityAt: number;
  lastMessage: MessageRow | null;
}

export interface MessageRow {
  urn: string;
  conversationId: string;
  body: string;
  senderHashId: string;
  deliveredAt: number;
}

/** A browser without a window: a cookie jar behind one regional proxy. */
export class Visitor {
  readonly cookies = new Map<string, string>();
  readonly #agent: ProxyAgent;

  private constructor(agent: ProxyAgent) {
    this.#agent = agent;
  }

  static async from(owner: Owner, network: Ready, region = 'US'): Promise<Visitor> {
    const proxy = network.proxies.find((candidate) => candidate.region === region);
    if (proxy === undefined) throw new Error(`There is no proxy for ${region}.`);
    const credentials = Buffer.from(`${proxy.username}:${proxy.password}`).toString('base64');
    const ca = await readFile(network.ca_file, 'utf8');
    const agent = new ProxyAgent({ uri: proxy.url, token: `Basic ${credentials}`, requestTls: { ca } });
    owner.teardown(() => agent.destroy());
    return new Visitor(agent);
  }

  async send(
    url: string,
    options: {
      method?: 'GET' | 'POST';
      headers?: Record<string, string>;
      body?: string | Buffer;
      signal?: AbortSignal;
    } = {},
  ): Promise<Dispatcher.ResponseData> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await request(new URL(url, 'https://www.social.test'), {
      dispatcher: this.#agent,
      ...options,
      headers: { ...options.headers, ...(cookie === '' ? {} : { cookie }) },
    });
    for (const line of [answer.headers['set-cookie'] ?? []].flat()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (/Max-Age=0/.test(line)) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return answer;
  }

  async page(path: string, form?: Record<string, string>): Promise<Page> {
    const csrf = this.cookies.get('sn_csrf') ?? '';
    const answer = await this.send(
      path,
      form === undefined
        ? {}
        : {
            method: 'POST',
            headers: { 'content-type': 'application/x-www-form-urlencoded' },
            body: new URLSearchParams({ csrf, ...form }).toString(),
          },
    );
    const text = await answer.body.text();
    const location = answer.headers.location;
    return {
      status: answer.statusCode,
      location: typeof location === 'string' ? location : null,
      text,
      name: /<body data-page="([^"]*)"/.exec(text)?.[1] ?? null,
    };
  }

  /** Calls a JSON endpoint, with the csrf header. */
  async api<Body = unknown>(path: string, body?: unknown): Promise<ApiAnswer<Body>> {
    const headers: Record<string, string> = { 'x-csrf-token': this.cookies.get('sn_csrf') ?? '' };
    const answer = await this.send(
      path,
      body === undefined
        ? { headers }
        : { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(body) },
    );
    return { status: answer.statusCode, headers: answer.headers, body: (await answer.body.json()) as Body };
  }

  /** One page of a list. */
  async list<Row>(path: string): Promise<Listed<Row>> {
    return (await this.api<Listed<Row>>(path)).body;
  }

  /** Opens the sign-in page and posts the form. */
  async signIn(username: string, password = 'sandbox'): Promise<Page> {
    await this.page('/login');
    return this.page('/login', { username, password });
  }
}

/** A visitor who is signed in and has seen the feed. */
export async function signedIn(owner: Owner, network: Ready, username: string, region = 'US'): Promise<Visitor> {
  const visitor = await Visitor.from(owner, network, region);
  await visitor.signIn(username);
  const feed = await visitor.page('/feed');
  if (feed.name !== 'feed') throw new Error(`${username} could not sign in.`);
  return visitor;
}
