import type { UsableKey } from '../../../storage/workspaces/keys.js';
import type { JsonObject } from '../body.js';
import type { Sender } from '../identity/callers.js';
import type { ClientAddress } from '../identity/client-address.js';
import type { RequestContext } from '../request-context.js';
import type { Route, Services } from '../route.js';
import type { Match } from '../router.js';
import type { HttpExchange } from '../wire/exchange.js';
import type { RequestKind } from './request-scheduler.js';
import type { Payer, WorkspaceShare } from './workspace-requests.js';

/** Where a request goes: what is known of it before any gate. */
export interface Destination {
  path: string;
  /** Of its path and method; undefined where there is none. */
  route: Route | undefined;
}

/** One request on its way through the gates (gates.ts): what came, and what each gate has found. */
export class AdmittedRequest implements Destination {
  readonly exchange: HttpExchange;
  readonly path: string;
  readonly match: Match | undefined;
  readonly route: Route | undefined;
  readonly sender: Sender;
  readonly context: RequestContext;
  /** What it may use: with its turn, its workspace's database in place of the node's. */
  services: Services;
  key: UsableKey = NO_KEY;
  /** Set by its turn; a probe has none. */
  share: WorkspaceShare | undefined;
  /** Gives back the turn of a large body. */
  releaseTurn: (() => void) | undefined;
  resource: unknown;
  /** Undefined where none was sent. */
  bytes: Buffer | undefined;
  json: JsonObject | undefined;
  query: unknown;
  body: unknown;
  /** The client went away: nothing is done, and nothing answered. */
  gone = false;

  constructor(
    exchange: HttpExchange,
    match: Match | undefined,
    context: RequestContext,
    { services, address }: { services: Services; address: ClientAddress },
  ) {
    this.exchange = exchange;
    this.path = exchange.path;
    this.match = match;
    this.route = match && routeOf(match, exchange.method);
    this.sender = senderOf(exchange, address);
    this.context = context;
    this.services = services;
  }

  get params(): Record<string, string> {
    return this.match?.params ?? NO_PARAMS;
  }

  /** Whose share of the node it takes. What never changes has one of its own: who asks for it is not held up by those who try links and keys. */
  get payer(): Payer {
    if (this.key !== NO_KEY) return this.key;
    return this.route?.body.kind === 'ignored' ? PAGES : STRANGERS;
  }

  get kind(): RequestKind {
    const { route, exchange } = this;
    return { name: route ? `${route.method} ${route.path}` : 'no route', bytes: exchange.declaredBytes };
  }

  /** The handler is done: who reads the answer slowly keeps no large body of others waiting. */
  handled(): void {
    this.releaseTurn?.();
    this.releaseTurn = undefined;
  }

  /** The answer was sent, or nobody waits for it. */
  end(): void {
    this.handled();
    this.share?.end();
  }
}

/** The route of a method; HEAD is answered by that of GET. */
export function routeOf(match: Match, method: string): Route | undefined {
  return match.routes.get(method === 'HEAD' ? 'GET' : method);
}

/** In place of a key on paths that need none; has no workspace and no scope. */
const NO_KEY: UsableKey = {
  kind: 'key',
  id: '',
  name: null,
  workspace_id: '',
  scopes: [],
  networks: null,
  expires_at: null,
  limits: null,
};

const NO_PARAMS = {};
const PAGES: Payer = { id: '', workspace_id: 'pages', keyless: true };
const STRANGERS: Payer = { id: '', workspace_id: 'strangers', keyless: true };

function senderOf(exchange: HttpExchange, clientAddress: ClientAddress): Sender {
  const { method, path, headers } = exchange;
  const address = () => clientAddress({ peer: exchange.remoteAddress(), forwardedFor: headers['x-forwarded-for'] });
  return { method, path, headers, address };
}
