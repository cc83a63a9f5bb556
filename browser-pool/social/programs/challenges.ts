import type { ChallengeKind } from '../../../storage/model/records.js';
import { failureOf, RunFailure } from '../../failures.js';
import type { ProgramRun } from '../../program.js';
import { attribute, kindOf, submit, typeSecret, visitAgain } from '../access/pages.js';
import type { PageKind, Site } from '../site/site.js';

/** Challenge kinds the service can pass on, and what answers them (OPS-10): a code, an approval on another device, or nothing that it could pass on. */
const CHALLENGES: Record<ChallengeKind, 'code' | 'approval' | 'nothing'> = {
  email: 'code',
  sms: 'code',
  authenticator: 'code',
  approval: 'approval',
  captcha: 'nothing',
};

/** Passes every challenge that stands in the way on to the user; gives the page behind the last one. */
export async function passChallenges(run: ProgramRun, site: Site, from: PageKind): Promise<PageKind> {
  let kind = from;
  while (kind === 'challenge') kind = await answerChallenge(run, site);
  if (kind === 'challengeExpired') throw new RunFailure('challenge_expired');
  return kind;
}

async function answerChallenge(run: ProgramRun, site: Site): Promise<PageKind> {
  const kind = await shownChallenge(run, site);
  if (kind === undefined) throw new RunFailure('challenge_unsupported');
  if (CHALLENGES[kind] === 'approval') return awaitApproval(run, site, kind);
  return tryCode(run, site, await run.challenge(kind, CHALLENGES[kind] === 'code'));
}

async function shownChallenge(run: ProgramRun, site: Site): Promise<ChallengeKind | undefined> {
  const { challenge, challengeKind } = site.selectors;
  const shown = await attribute(run, await run.page(), challenge, challengeKind.attribute);
  const kinds = Object.keys(CHALLENGES) as ChallengeKind[];
  return kinds.find((one) => site.challenges[one] === shown);
}

/** Opens the page of the challenge anew, until it is another. A look that may go better the next time says nothing. */
async function awaitApproval(run: ProgramRun, site: Site, kind: ChallengeKind): Promise<PageKind> {
  const address = (await run.page()).url();
  let now: PageKind = 'challenge';
  await run.challengeElsewhere(kind, async () => {
    try {
      now = await visitAgain(run, site, address);
      if (now === 'challengeExpired') throw new RunFailure('challenge_expired');
      return now !== 'challenge' || (await shownChallenge(run, site)) !== kind;
    } catch (error) {
      if (failureOf(error).transient) return false;
      throw error;
    }
  });
  return now;
}

/** Gives the site a code; a wrong one leads to another challenge page. */
async function tryCode(run: ProgramRun, site: Site, answer: string): Promise<PageKind> {
  const { code, codeSubmit } = site.selectors;
  const now = await kindOf(run, site);
  if (now !== 'challenge') return now;
  await typeSecret(run, site, code, answer);
  return submit(run, site, codeSubmit);
}
