import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Fault, Faults } from '../faults.js';
import { GUILD, isGuildHost } from '../guild/guild.js';
import { FILES_HOST, ORIGIN, SITE_HOST } from '../limits.js';
import { unguessable } from '../state/sessions.js';
import type { State } from '../state/state.js';
import { SIGNED_OUT, type Traffic } from '../traffic.js';
import { type Answer, html, Refused, redirect, refusal } from './answer.js';
import { CSRF_COOKIE, endedSessionCookie, SESSION_COOKIE, sessionCookie } from './cookies.js';
import { PLAIN } from './dialect.js';
import { Exchange, type Route } from './exchange.js';
import { errorPage, forbiddenPage, notFoundPage, page } from './markup.js';
import { Routes } from './routes.js';
import { bodyOf, send } from './wire.js';

/**
 * The way of every request through the site: route, session (and its region), csrf, fault, handler, answer.
 * A handler runs in one turn and commits before it returns, so a fault stands either wholly before the commit or
 * wholly after it.
 */
export class Front {
  readonly #state: State;
  readonly #faults: Faults;
  readonly #traffic: Traffic;
  readonly #hosts: ReadonlyMap<string, Routes>;

  constructor(state: State, faults: Faults, traffic: Traffic, site: readonly Route[], files: readonly Route[]) {
    this.#state = state;
    this.#faults = faults;
    this.#traffic = traffic;
    this.#hosts = new Map([
      [SITE_HOST, new Routes(site)],
      [FILES_HOST, new Routes(files)],
    ]);
  }

  /** Answers one request that came through the proxy of `region`. Never throws. */
  async serve(region: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    // The client may have left by the time the answer is written.
    response.on('error', () => {});
    try {
      const { method = 'GET', url = '/', headers } = request;
      const dialect = isGuildHost(headers.host) ? GUILD : PLAIN;
      const body = await bodyOf(request);
      if (body === null) send(response, dialect.said(refusal(413, 'too_large', 'The body is too large.')), []);
      else await this.#serve(new Exchange(dialect.heard({ method, url, headers, body }), region, dialect), response);
    } catch (error) {
      // A request that broke off in mid-body is no error; anything else is one of this program.
      if (!request.destroyed) process.stderr.write(`${request.method} ${request.url}: ${String(error)}\n`);
      response.destroy();
    }
  }

  async #serve(exchange: Exchange, response: ServerResponse): Promise<void> {
    const routes = this.#hosts.get(exchange.host);
    const found = routes?.find(exchange.method, exchange.path) ?? { methods: [] };
    this.#recognise(exchange);
    if ('route' in found) {
      exchange.params = found.params;
      exchange.account ??= found.route.account?.(exchange) ?? null;
    }
    this.#traffic.count(exchange.region, exchange.account?.username ?? SIGNED_OUT);

    if (routes === undefined) {
      const bare = exchange.host === 'social.test';
      const answer = bare ? redirect(301, `${ORIGIN}${exchange.target}`) : html(404, notFoundPage());
      reply(exchange, response, answer);
      return;
    }
    if (exchange.path === PICTURE) return;
    if (!('route' in found)) {
      reply(exchange, response, nothingThere(exchange.path, found.methods));
      return;
    }
    const { route } = found;
    const denied = this.#admit(exchange, route);
    if (denied !== null) {
      reply(exchange, response, denied);
      return;
    }
    const capabilities = typeof route.capabilities === 'function' ? route.capabilities(exchange) : route.capabilities;
    const fault = this.#faults.take(exchange.account?.username ?? null, capabilities);
    if (fault === null || fault.mode === 'delay') this.#renew(exchange);
    await this.#answer(exchange, response, route, fault);
  }

  /** Finds the session, and ends it when it comes from another region than it was opened in. */
  #recognise(exchange: Exchange): void {
    const token = exchange.cookies.get(SESSION_COOKIE);
    if (token === undefined) return;
    const session = this.#state.sessions.find(token);
    if (session !== undefined && session.region === exchange.region) {
      exchange.session = session;
      exchange.account = this.#state.account(session.username);
      return;
    }
    if (session !== undefined) this.#state.commit({ type: 'session_ended', token });
    exchange.setCookies.push(endedSessionCookie());
  }

  /** Gives the session another cookie when it is time for one: the one of before is good for nothing from now on. */
  #renew({ session, account, setCookies }: Exchange): void {
    const every = account?.settings.renew_session_every ?? null;
    if (session === null || every === null || this.#state.sessions.count(session) < every) return;
    const renewed = unguessable();
    this.#state.commit({ type: 'session_renewed', token: session.token, renewed });
    setCookies.push(sessionCookie(renewed));
  }

  /** The answer to a request that may not go on; null when it may. */
  #admit(exchange: Exchange, route: Route): Answer | null {
    if (route.access !== 'open' && exchange.session === null) return signedOut(exchange, route);
    if (route.access !== 'open' && exchange.account?.settings.restricted === true) {
      return route.access === 'api'
        ? refusal(403, 'account_restricted', 'Your account is restricted.')
        : redirect(302, onSite(exchange, '/checkpoint/restricted'));
    }
    if (route.access === 'api') {
      const given = exchange.request.headers['x-csrf-token'];
      if (given !== exchange.session?.csrf) return refusal(403, 'csrf_mismatch', 'The csrf token does not match.');
    } else if (route.method === 'POST') {
      const expected = exchange.session?.csrf ?? exchange.cookies.get(CSRF_COOKIE);
      if (expected === undefined || exchange.form.get('csrf') !== expected) return html(403, forbiddenPage());
    }
    return null;
  }

  /** Where the account is asked for a code in mid session. */
  #check({ account }: Exchange): string {
    const username = account?.username ?? '';
    const purpose = { for: 'login' as const, next: '/feed' };
    return `/checkpoint/challenge/${this.#state.challenges.raise({ kind: 'email', username, purpose }).id}`;
  }

  async #answer(exchange: Exchange, response: ServerResponse, route: Route, fault: Fault | null): Promise<void> {
    if (fault === null) {
      reply(exchange, response, handled(exchange, route));
      return;
    }
    switch (fault.mode) {
      case 'error_after_commit':
      case 'error': {
        if (fault.mode === 'error_after_commit') handled(exchange, route);
        const code = fault.code ?? (fault.status === 429 ? 'rate_limited' : 'server_error');
        const answer = isPage(route)
          ? html(fault.status, errorPage())
          : refusal(fault.status, code, 'Something went wrong.');
        if (fault.retry_after !== null && 'headers' in answer) answer.headers['retry-after'] = fault.retry_after;
        reply(exchange, response, answer);
        return;
      }
      case 'delay':
        await new Promise((resolve) => setTimeout(resolve, fault.ms));
        reply(exchange, response, handled(exchange, route));
        return;
      case 'drop_before_commit':
        response.socket?.destroy();
        return;
      case 'drop_after_commit':
        handled(exchange, route);
        response.socket?.destroy();
        return;
      case 'drop_after_two_commits':
        handled(exchange, route);
        handled(exchange, route);
        response.socket?.destroy();
        return;
      case 'drop_and_commit_late':
        this.#faults.commitLate(() => handled(exchange, route));
        response.socket?.destroy();
        return;
      case 'malformed':
        handled(exchange, route);
        send(response, malformed(route), []);
        return;
      case 'logged_out':
        if (exchange.session !== null) this.#state.commit({ type: 'session_ended', token: exchange.session.token });
        exchange.setCookies.push(endedSessionCookie());
        reply(exchange, response, signedOut(exchange, route));
        return;
      case 'endless_picture':
        reply(exchange, response, withPicture(handled(exchange, route)));
        return;
      case 'checkpoint':
        reply(exchange, response, redirect(302, onSite(exchange, this.#check(exchange))));
        return;
      case 'sign_in_page':
        reply(exchange, response, html(200, page('login', 'Sign in', '<main><p>Sign in to continue.</p></main>')));
        return;
      case 'endless_redirects':
        reply(exchange, response, redirect(302, exchange.target));
        return;
      case 'hang':
        return;
      default:
        fault.mode satisfies never;
    }
  }
}

/** A picture of the site that never comes to an end. */
const PICTURE = '/endless.png';

function withPicture(answer: Answer): Answer {
  if (!('body' in answer) || typeof answer.body !== 'string') return answer;
  return { ...answer, body: answer.body.replace('</body>', `<img src="${PICTURE}" alt=""></body>`) };
}

/** Answers in the words of the visitor. */
function reply({ dialect, setCookies }: Exchange, response: ServerResponse, answer: Answer): void {
  send(
    response,
    dialect.said(answer),
    setCookies.map((line) => dialect.cookie(line)),
  );
}

function handled(exchange: Exchange, route: Route): Answer {
  try {
    return route.answer(exchange);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    if (!isPage(route)) return refusal(error.status, error.code, error.message);
    return error.status === 404 ? html(404, notFoundPage()) : html(error.status, errorPage());
  }
}

function isPage(route: Route): boolean {
  return route.access !== 'api';
}

function signedOut(exchange: Exchange, route: Route): Answer {
  if (!isPage(route)) return refusal(401, 'session_required', 'Sign in to continue.');
  const next = exchange.method === 'GET' && exchange.host === SITE_HOST ? exchange.target : '/feed';
  return redirect(302, onSite(exchange, `/login?next=${encodeURIComponent(next)}`));
}

/** A path of the site, as a redirect from this request's host has to name it. */
function onSite(exchange: Exchange, path: string): string {
  return exchange.host === SITE_HOST ? path : `${ORIGIN}${path}`;
}

/** A 200 that holds none of what the endpoint promises. */
function malformed(route: Route): Answer {
  if (isPage(route)) return html(200, '<!doctype html><html><body><p>We are improving this page.</p></body></html>');
  return {
    status: 200,
    headers: { 'content-type': 'application/json; charset=utf-8' },
    body: '{"elements":"[]","v":2}',
  };
}

function nothingThere(path: string, methods: readonly string[]): Answer {
  if (!path.startsWith('/api/') && path !== '/realtime') return html(404, notFoundPage());
  return methods.length > 0
    ? refusal(405, 'method_not_allowed', `Only ${methods.join(', ')} is possible here.`)
    : refusal(404, 'not_found', 'There is no such endpoint.');
}
