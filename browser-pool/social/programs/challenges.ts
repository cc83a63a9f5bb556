import type { ChallengeKind } from '../../../storage/model/records.js';
import { RunFailure } from '../../failures.js';
import type { ProgramRun } from '../../program.js';
import { attribute, kindOf, submit } from '../access/pages.js';
import type { PageKind, Site } from '../site/site.js';

/** Challenge kinds the service can pass on, and whether a code answers them (OPS-10). */
const CHALLENGES: Record<ChallengeKind, { acceptsCode: boolean }> = {
  email: { acceptsCode: true },
  sms: { acceptsCode: true },
  authenticator: { acceptsCode: true },
  captcha: { acceptsCode: false },
};

/** Passes every challenge that stands in the way on to the user; gives the page behind the last one. */
export async function passChallenges(run: ProgramRun, site: Site, from: PageKind): Promise<PageKind> {
  let kind = from;
  while (kind === 'challenge') kind = await answerChallenge(run, site);
  if (kind === 'challengeExpired') throw new RunFailure('challenge_expired');
  return kind;
}

/** Asks the user for one code and tries it; a wrong one leads to another challenge page. */
async function answerChallenge(run: ProgramRun, site: Site): Promise<PageKind> {
  const { challenge, challengeKind, code, codeSubmit } = site.selectors;
  const shown = await attribute(run, await run.page(), challenge, challengeKind.attribute);
  const kinds = Object.keys(CHALLENGES) as ChallengeKind[];
  const kind = kinds.find((one) => site.challenges[one] === shown);
  if (kind === undefined) throw new RunFailure('challenge_unsupported');
  const answer = await run.challenge(kind, CHALLENGES[kind].acceptsCode);
  const now = await kindOf(run, site);
  if (now !== 'challenge') return now;
  await (await run.page()).locator(code).fill(answer);
  return submit(run, site, codeSubmit);
}
