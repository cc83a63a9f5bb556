import { type Answer, html, redirect } from '../http/answer.js';
import { CSRF_COOKIE } from '../http/cookies.js';
import type { Exchange, Route } from '../http/exchange.js';
import { csrfField, escaped, page } from '../http/markup.js';
import type { Account } from '../state/accounts.js';
import { type Challenge, RIGHT_CODE } from '../state/challenges.js';
import type { State } from '../state/state.js';

/** Challenges, and the page of a restricted account. `passed` takes over after the right code, or the approval. */
export function checkpointRoutes(
  state: State,
  passed: (exchange: Exchange, challenge: Challenge, account: Account) => Answer,
): Route[] {
  const open = (exchange: Exchange): Challenge | undefined => state.challenges.open(exchange.params[0] ?? '');
  const common = {
    path: '/checkpoint/challenge/:id',
    access: 'open',
    capabilities: (exchange: Exchange) => [
      open(exchange)?.purpose.for === 'recruiter' ? 'social.recruiter.switch' : 'social.login',
    ],
    account: (exchange: Exchange) => {
      const challenge = open(exchange);
      return challenge === undefined ? null : state.account(challenge.username);
    },
  } as const;
  return [
    {
      ...common,
      method: 'GET',
      answer: (exchange) => {
        const challenge = open(exchange);
        if (challenge?.approved) {
          state.challenges.useUp(challenge.id);
          return passed(exchange, challenge, state.account(challenge.username));
        }
        const csrf = exchange.session?.csrf ?? exchange.cookies.get(CSRF_COOKIE) ?? '';
        return challenge === undefined ? html(410, expiredPage()) : html(200, challengePage(challenge, csrf));
      },
    },
    {
      ...common,
      method: 'POST',
      answer: (exchange) => {
        const challenge = open(exchange);
        if (challenge === undefined) return html(410, expiredPage());
        state.challenges.useUp(challenge.id);
        if (!takesCode(challenge) || exchange.form.get('code')?.trim() !== RIGHT_CODE) {
          return redirect(303, `/checkpoint/challenge/${state.challenges.raise(challenge, true).id}`);
        }
        return passed(exchange, challenge, state.account(challenge.username));
      },
    },
    {
      method: 'GET',
      path: '/checkpoint/restricted',
      access: 'open',
      capabilities: [],
      answer: () => html(200, restrictedPage()),
    },
  ];
}

function takesCode({ kind }: Challenge): boolean {
  return kind === 'email' || kind === 'sms' || kind === 'authenticator';
}

const PROMPTS: Readonly<Record<Challenge['kind'], string>> = {
  email: 'Enter the code we sent to your email address.',
  sms: 'Enter the code we sent to your phone.',
  authenticator: 'Enter the code your authenticator app shows.',
  approval: 'Approve this sign-in in the app on your phone.',
  captcha: 'Show us that you are a person.',
  passkey: 'Use the passkey of this device.',
};

function challengePage(challenge: Challenge, csrf: string): string {
  const id = escaped(challenge.id);
  const form = `<form id="challenge-form" method="post" action="/checkpoint/challenge/${id}">
    ${csrfField(csrf)}
    <label for="code">Code</label>
    <input id="code" name="code" inputmode="numeric" autocomplete="one-time-code">
    <button id="challenge-submit" type="submit">Continue</button>
  </form>`;
  return page(
    'challenge',
    'Security check',
    `<main id="challenge" data-challenge-id="${id}" data-challenge-kind="${challenge.kind}">
  <h1>Security check</h1>
  <p id="challenge-prompt">${PROMPTS[challenge.kind]}</p>
  ${challenge.again ? '<p id="challenge-error" role="alert">That code was not right. We made a new one.</p>' : ''}
  ${takesCode(challenge) ? form : `<div id="${challenge.kind}"></div>`}
</main>`,
  );
}

function expiredPage(): string {
  return page('challenge-expired', 'Expired', '<main id="expired"><p>This check is over. Sign in again.</p></main>');
}

function restrictedPage(): string {
  return page(
    'restricted',
    'Account restricted',
    `<main id="restriction" data-reason="unusual_activity"><h1>Your account is restricted</h1>
<p>We noticed unusual activity. Contact support to get access again.</p></main>`,
  );
}
