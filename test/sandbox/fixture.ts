import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { createParser } from 'eventsource-parser';
import { type Dispatcher, ProxyAgent, request } from 'undici';
import type { Ready } from '../../bench/sandbox/network.js';

const MAIN = fileURLToPath(new URL('../../bench/sandbox/main.js', import.meta.url));

/** What a fixture needs of a tap test: a way to be told of its end. */
interface Owner {
  teardown(clean: () => unknown): unknown;
}

/** A running stand-in network, as its parent process sees it. */
export interface RunningNetwork extends Ready {
  pid: number;
  /** Its exit code, once it has ended. */
  exited: Promise<number | null>;
  /** Ends it as the parent's death would. Gives the exit code. */
  stop(): Promise<number | null>;
  kill(): Promise<void>;
}

/** An empty data directory, removed at the end of the test. */
export async function dataDirectory(owner: Owner): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'network-'));
  owner.teardown(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

/** Starts the network as a process of its own; it ends with the test. */
export async function startedNetwork(owner: Owner, directory?: string): Promise<RunningNetwork> {
  const dataDir = directory ?? (await dataDirectory(owner));
  const child = spawn(process.execPath, [MAIN, '--data-dir', dataDir], { stdio: ['pipe', 'pipe', 'inherit'] });
  const exited = once(child, 'exit').then(([code]) => code as number | null);
  const stop = async (): Promise<number | null> => {
    child.stdin.end();
    return exited;
  };
  owner.teardown(stop);
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    await exited;
  };
  return { ...(JSON.parse(line) as Ready), pid: child.pid ?? 0, exited, stop, kill };
}

/** One request to the control API; throws unless it is answered with 200. */
export async function control<T>(
  network: Ready,
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  body?: unknown,
): Promise<T> {
  const answer = await request(`${network.control_url}${path}`, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (answer.statusCode !== 200) throw new Error(`${method} ${path}: ${answer.statusCode} ${await answer.body.text()}`);
  return (await answer.body.json()) as T;
}

/** The ledger of one account. */
export async function ledgerOf(network: Ready, account: string): Promise<Record<string, string>[]> {
  const path = `/ledger?account=${encodeURIComponent(account)}`;
  return (await control<{ entries: Record<string, string>[] }>(network, 'GET', path)).entries;
}

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

export interface Frame {
  id: string | undefined;
  event: string | undefined;
  data: Record<string, unknown>;
}

/** An open event stream: its frames one by one, or all that is left until it ends. */
export interface Listening {
  next(): Promise<Frame>;
  rest(): Promise<Frame[]>;
}

export async function listening(owner: Owner, visitor: Visitor): Promise<Listening> {
  const headers = { accept: 'text/event-stream', 'x-csrf-token': visitor.cookies.get('sn_csrf') ?? '' };
  const { statusCode, body } = await visitor.send('/realtime', { headers });
  if (statusCode !== 200) throw new Error(`The stream did not open: ${statusCode}`);
  owner.teardown(() => body.destroy());
  body.on('error', () => {});
  const frames = framesOf(body);
  return {
    next: async () => {
      const { value, done } = await frames.next();
      if (done === true) throw new Error('The stream has ended.');
      return value;
    },
    rest: async () => {
      const left: Frame[] = [];
      for await (const frame of frames) left.push(frame);
      return left;
    },
  };
}

async function* framesOf(body: AsyncIterable<Buffer>): AsyncGenerator<Frame, void> {
  let arrived: Frame[] = [];
  const parser = createParser({
    onEvent: ({ id, event, data }) => arrived.push({ id, event, data: JSON.parse(data) as Frame['data'] }),
  });
  const decoder = new TextDecoder();
  for await (const chunk of body) {
    parser.feed(decoder.decode(chunk, { stream: true }));
    const frames = arrived;
    arrived = [];
    yield* frames;
  }
}
