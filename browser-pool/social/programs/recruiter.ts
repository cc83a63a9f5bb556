import type { SwitchRecruiter } from '../../contract/session.js';
import { loggedOut, RunFailure, unexpectedAnswer } from '../../failures.js';
import type { ProgramRun } from '../../program.js';
import { Endpoints } from '../access/endpoints.js';
import { attribute, shows, submit, visitSignedIn } from '../access/pages.js';
import type { RequestOf } from '../site/endpoints.js';
import { isCandidates } from '../site/search-answers.js';
import { type Site, withNames } from '../site/site.js';
import { passChallenges } from './challenges.js';
import { definePageProgram } from './define.js';
import { recruiterRefusal } from './recruiter-search.js';

interface Contract {
  id: string;
  name: string;
  current: boolean;
}

/** Any search shows whether a contract works; this one reads a single row, or none at all. */
const PROOF: RequestOf<'recruiterSearch'> = { networks: ['F'], start: 0, count: 1 };

/**
 * Chooses the contract on its page, through a challenge if the site raises one, and searches under it once with the
 * saved session in a fresh context before it is given out: a switch that does not work publishes nothing (contract:
 * social.recruiter.switch). From before the choice until then the connection shows no contract: a run that is canceled, or lost, may
 * have changed the site's.
 */
const switchRecruiter = definePageProgram<SwitchRecruiter>('social.recruiter.switch', async (run, site) => {
  const { paths, selectors } = site;
  let kind = await visitSignedIn(run, site, paths.recruiterContracts);
  if (kind === 'recruiterUnavailable') throw withoutSeat();
  if (kind !== 'recruiterContracts') throw unexpectedAnswer('page');
  const contract = matching(await contractsOf(run, site), run.input.contract);
  await run.unverifyRecruiter();
  const button = withNames(selectors.contractSubmit, { id: contract.id });
  kind = await passChallenges(run, site, await submit(run, site, button));
  if (kind === 'login') throw loggedOut();
  if (kind === 'recruiterUnavailable') throw withoutSeat();
  if (kind !== 'recruiter') throw unexpectedAnswer('page');
  const seat = await attribute(run, await run.page(), selectors.seat, selectors.seatContractId.attribute);
  if (seat !== contract.id) throw unexpectedAnswer('page');
  await run.renewContext(await run.session());
  const endpoints = await Endpoints.open(run, site);
  await endpoints.post('recruiterSearch', PROOF, isCandidates).catch((error: unknown) => {
    throw recruiterRefusal(error);
  });
  return {
    result: { contract: contract.name, recruiter_ready: true },
    effects: {
      session: await run.renewedSession(),
      recruiter: { health: 'ready', reason: null, contract: contract.name },
    },
  };
});

/** Choosing the contract a session works under. */
export const recruiterPrograms = [switchRecruiter] as const;

/** What the page offers. */
async function contractsOf(run: ProgramRun, site: Site): Promise<Contract[]> {
  const { contract, contractId, contractName, contractCurrent } = site.selectors;
  const page = await run.page();
  if (!(await shows(run, page, contract))) return [];
  const forms = await page.locator(contract).all();
  const timeout = run.navigation_ms();
  return Promise.all(
    forms.map(async (form) => {
      const [id, name, current] = await Promise.all(
        [contractId, contractName, contractCurrent].map(({ attribute }) => form.getAttribute(attribute, { timeout })),
      );
      if (!id || !name || !/^[A-Za-z0-9_-]{1,64}$/.test(id)) throw unexpectedAnswer('page');
      return { id, name, current: current === contractCurrent.value };
    }),
  );
}

/**
 * The contract of this id or name, in any case; else the only one whose name holds the text. Without a text the one
 * in use, or the first.
 */
function matching(contracts: Contract[], wanted: string | undefined): Contract {
  const [first] = contracts;
  if (!first) throw new RunFailure('recruiter_not_ready', { reason: 'no_contract' });
  if (wanted === undefined) return contracts.find(({ current }) => current) ?? first;
  const text = wanted.trim().toLowerCase();
  const exact = contracts.find(({ id, name }) => id.toLowerCase() === text || name.toLowerCase() === text);
  if (exact) return exact;
  const holding = contracts.filter(({ name }) => name.toLowerCase().includes(text));
  const [only] = holding;
  if (!only) throw new RunFailure('provider_not_found', { reason: 'contract_not_found' });
  if (holding.length > 1) throw new RunFailure('validation_error', { reason: 'contract_ambiguous' });
  return only;
}

function withoutSeat(): RunFailure {
  const reason = 'no_seat';
  const effects = { recruiter: { health: 'not_verified' as const, reason, contract: null } };
  return new RunFailure('recruiter_not_ready', { reason }, { effects });
}
