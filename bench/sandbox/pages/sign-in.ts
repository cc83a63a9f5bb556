import { type Answer, html, redirect } from '../http/answer.js';
import { CSRF_COOKIE, csrfCookie, endedSessionCookie, sessionCookie } from '../http/cookies.js';
import type { Exchange, Route } from '../http/exchange.js';
import { csrfField, escaped, page } from '../http/markup.js';
import type { Account } from '../state/accounts.js';
import { unguessable } from '../state/sessions.js';
import type { State } from '../state/state.js';

/** Signing in and out, up to the point where a challenge takes over. */
export function signInRoutes(state: State): Route[] {
  return [
    {
      method: 'GET',
      path: '/',
      access: 'open',
      capabilities: [],
      answer: (exchange) => redirect(302, exchange.session === null ? '/login' : '/feed'),
    },
    {
      method: 'GET',
      path: '/login',
      access: 'open',
      capabilities: ['social.login'],
      answer: (exchange) => {
        if (exchange.session !== null) return redirect(302, '/feed');
        const known = exchange.cookies.get(CSRF_COOKIE);
        const csrf = known !== undefined && /^[A-Za-z0-9_-]{1,128}$/.test(known) ? known : unguessable();
        if (csrf !== known) exchange.setCookies.push(csrfCookie(csrf));
        return html(200, loginPage(csrf, placeOnSite(exchange.query.text('next', 2_000))));
      },
    },
    {
      method: 'POST',
      path: '/login',
      access: 'open',
      capabilities: ['social.login'],
      account: (exchange) => accountNamed(state, exchange),
      answer: (exchange) => signIn(state, exchange),
    },
    {
      method: 'POST',
      path: '/logout',
      access: 'page',
      capabilities: [],
      answer: (exchange) => {
        if (exchange.session !== null) state.commit({ type: 'session_ended', token: exchange.session.token });
        exchange.setCookies.push(endedSessionCookie());
        return redirect(303, '/login');
      },
    },
  ];
}

/** The posted form: a session, a challenge before it, or the form again. */
function signIn(state: State, exchange: Exchange): Answer {
  const { form } = exchange;
  const next = placeOnSite(form.get('next'));
  const account = accountNamed(state, exchange);
  if (account === null || form.get('password') !== account.settings.password) {
    return html(401, loginPage(form.get('csrf') ?? '', next, form.get('username') ?? ''));
  }
  const { username, settings } = account;
  if (settings.challenge === null) return signedIn(state, exchange, account, next);
  const challenge = state.challenges.raise({ kind: settings.challenge, username, purpose: { for: 'login', next } });
  return redirect(303, `/checkpoint/challenge/${challenge.id}`);
}

/** Opens a session for the account, in the region the request came from, and sends the browser on. */
export function signedIn(state: State, exchange: Exchange, account: Account, next: string): Answer {
  const session = {
    token: unguessable(),
    csrf: unguessable(),
    username: account.username,
    region: exchange.region,
  };
  state.commit({ type: 'session_opened', session });
  state.sessions.markFresh(session.token);
  exchange.setCookies.push(sessionCookie(session.token), csrfCookie(session.csrf));
  return redirect(303, account.settings.restricted ? '/checkpoint/restricted' : next);
}

function accountNamed(state: State, exchange: Exchange): Account | null {
  const username = exchange.form.get('username')?.trim() ?? '';
  return username === '' ? null : state.account(username);
}

/** A path on this host, never an address elsewhere. */
function placeOnSite(next: string | null): string {
  return next !== null && /^\/(?![/\\])[^\s]*$/.test(next) ? next : '/feed';
}

/** The form; with `refused`, the username whose password did not fit. */
function loginPage(csrf: string, next: string, refused?: string): string {
  const alert = '<p id="login-error" role="alert">That is not the right username or password.</p>';
  return page(
    'login',
    'Sign in',
    `<main><h1>Sign in</h1>
<form id="login-form" method="post" action="/login">
  ${csrfField(csrf)}
  <input type="hidden" name="next" value="${escaped(next)}">
  ${refused === undefined ? '' : alert}
  <label for="username">Email or phone</label>
  <input id="username" name="username" autocomplete="username" value="${escaped(refused ?? '')}">
  <label for="password">Password</label>
  <input id="password" name="password" type="password" autocomplete="current-password">
  <button id="login-submit" type="submit">Sign in</button>
</form></main>`,
    refused === undefined ? '' : ' data-error="bad_credentials"',
  );
}
