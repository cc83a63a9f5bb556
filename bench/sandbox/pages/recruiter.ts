import { type Answer, html, notFound, redirect } from '../http/answer.js';
import type { Exchange, Route } from '../http/exchange.js';
import { csrfField, escaped, page } from '../http/markup.js';
import { CONTRACTS, type Contract } from '../state/seats.js';
import type { State } from '../state/state.js';

/** The recruiter side's pages: where a session chooses the contract it works under. */
export function recruiterPageRoutes(state: State): Route[] {
  const common = { access: 'page', capabilities: ['social.recruiter.switch'] } as const;
  const chosen = (exchange: Exchange): Contract | undefined => state.seats.contractOf(exchange.session?.token ?? '');
  return [
    {
      ...common,
      method: 'GET',
      path: '/recruiter',
      answer: (exchange) => {
        if (!exchange.viewer.settings.recruiter) return html(200, unavailablePage());
        const contract = chosen(exchange);
        return contract === undefined ? redirect(302, '/recruiter/contracts') : html(200, recruiterPage(contract));
      },
    },
    {
      ...common,
      method: 'GET',
      path: '/recruiter/contracts',
      answer: (exchange) =>
        html(
          200,
          exchange.viewer.settings.recruiter
            ? contractsPage(exchange.session?.csrf ?? '', chosen(exchange))
            : unavailablePage(),
        ),
    },
    {
      ...common,
      method: 'POST',
      path: '/recruiter/contracts',
      answer: (exchange) => {
        const { settings, username } = exchange.viewer;
        if (!settings.recruiter) return html(200, unavailablePage());
        const contract = CONTRACTS.find((other) => other.contractId === exchange.form.get('contract'));
        if (contract === undefined) throw notFound('contract');
        const kind = settings.recruiter_challenge;
        if (kind === null) return contractChosen(state, exchange, contract.contractId);
        const purpose = { for: 'recruiter', contractId: contract.contractId } as const;
        return redirect(303, `/checkpoint/challenge/${state.challenges.raise({ kind, username, purpose }).id}`);
      },
    },
  ];
}

/** Puts the session under the contract and sends the browser to the recruiter's page. */
export function contractChosen(state: State, exchange: Exchange, contractId: string): Answer {
  const token = exchange.session?.token;
  if (token === undefined) return redirect(303, '/login?next=%2Frecruiter');
  state.commit({ type: 'contract_chosen', token, contractId });
  state.seats.markFresh(token);
  return redirect(303, '/recruiter');
}

function recruiterPage({ contractId, contractName }: Contract): string {
  return page(
    'recruiter',
    'Recruiter',
    `<header id="recruiter-seat" data-contract-id="${contractId}" data-contract-name="${escaped(contractName)}">
  <span>${escaped(contractName)}</span> <a href="/recruiter/contracts">Change contract</a>
</header>
<main id="recruiter"><h1>Recruiter</h1></main>`,
  );
}

function contractsPage(csrf: string, current: Contract | undefined): string {
  const forms = CONTRACTS.map(({ contractId, contractName }) => {
    const name = escaped(contractName);
    return `<form class="contract" method="post" action="/recruiter/contracts" data-contract-id="${contractId}" data-contract-name="${name}" data-current="${contractId === current?.contractId}">
  ${csrfField(csrf)}<input type="hidden" name="contract" value="${contractId}">
  <button type="submit">${name}</button>
</form>`;
  });
  return page(
    'recruiter-contracts',
    'Choose a contract',
    `<main id="contracts"><h1>Choose a contract</h1>\n${forms.join('\n')}\n</main>`,
  );
}

function unavailablePage(): string {
  return page(
    'recruiter-unavailable',
    'Recruiter',
    '<main id="recruiter-unavailable" data-reason="no_seat"><p>Your account has no recruiter seat.</p></main>',
  );
}
