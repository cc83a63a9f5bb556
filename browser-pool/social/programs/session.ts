import type { CheckHealth, Login } from '../../contract/session.js';
import { failureOf, loggedOut, RunFailure, unexpectedAnswer } from '../../failures.js';
import type { ProgramRun } from '../../program.js';
import { Endpoints } from '../access/endpoints.js';
import { shows, signedInActor, submit, typeSecret, visit, visitSignedIn } from '../access/pages.js';
import { isMe } from '../site/answers.js';
import type { PageKind, Site } from '../site/site.js';
import { passChallenges } from './challenges.js';
import { definePageProgram } from './define.js';

/**
 * Signs in and gives the new session. On a live session without `reconnect` it verifies that one and makes none
 * (CONN-11). A session of another account than the connection's is not given out, and changes nothing (CONN-17).
 */
const login = definePageProgram<Login>('social.login', async (run, site) => {
  const result = { reason: 'login_succeeded' } as const;
  if (run.hasSession) {
    const actorId = run.input.reconnect === true ? null : await liveActor(run, site);
    if (actorId !== null) return { result, effects: { health: 'ready', actorId } };
    await run.renewContext(null);
  }
  const sent = { password: false };
  try {
    await signIn(run, site, sent);
    const actorId = await signedInActor(run, site);
    if (run.actorId !== null && run.actorId !== actorId)
      throw new RunFailure('identity_mismatch', {}, { definite: true });
    await requireOpens(run, site, await run.session(), actorId);
    return { result, effects: { session: await run.renewedSession(), health: 'ready', actorId } };
  } catch (error) {
    throw sent.password ? notRepeated(error) : error;
  }
});

/** The site may have taken the password: to give it again and again looks like somebody who guesses. */
function notRepeated(error: unknown): RunFailure {
  const failure = failureOf(error);
  if (!failure.transient || failure.definite) return failure;
  return new RunFailure(failure.code, failure.details, { ...(failure.effects && { effects: failure.effects }) });
}

/** Opens the session as it was saved in a fresh context: only one that shows the same account is given out. */
async function requireOpens(run: ProgramRun, site: Site, session: string, actorId: string): Promise<void> {
  await run.renewContext(session);
  const endpoints = await Endpoints.open(run, site);
  const { data } = await endpoints.get('me', {}, isMe);
  if (data.hashId !== actorId) throw new RunFailure('identity_mismatch', {}, { definite: true });
}

/** The account of a session that is live and still the connection's own; null when a new sign-in is due. */
async function liveActor(run: ProgramRun, site: Site): Promise<string | null> {
  try {
    const endpoints = await Endpoints.open(run, site);
    const { data } = await endpoints.get('me', {}, isMe);
    return run.actorId === null || run.actorId === data.hashId ? data.hashId : null;
  } catch (error) {
    if (error instanceof RunFailure && error.code === 'authentication_failed') return null;
    throw error;
  }
}

/** From the login page to the feed, through every challenge on the way. Notes when the password begins to leave. */
async function signIn(run: ProgramRun, site: Site, sent: { password: boolean }): Promise<void> {
  if (!run.credentials) throw new RunFailure('authentication_failed', { reason: 'no_credentials' });
  const { selectors, paths } = site;
  let kind: PageKind = await visit(run, site, paths.login);
  if (kind === 'login') {
    await typeSecret(run, site, selectors.username, run.credentials.username);
    await typeSecret(run, site, selectors.password, run.credentials.password);
    sent.password = true;
    kind = await submit(run, site, selectors.loginSubmit);
  }
  kind = await passChallenges(run, site, kind);
  switch (kind) {
    case 'feed':
      return;
    case 'login':
      throw await refusedSignIn(run, site);
    case 'challenge':
    case 'challengeExpired':
    case 'restricted':
    case 'recruiter':
    case 'recruiterContracts':
    case 'recruiterUnavailable':
    case 'forbidden':
    case 'notFound':
    case 'error':
      throw unexpectedAnswer('page');
    default:
      kind satisfies never;
  }
}

/** The sign-in page again: with the site's refusal of the password on it, or without any. */
async function refusedSignIn(run: ProgramRun, site: Site): Promise<RunFailure> {
  const refused = await shows(run, await run.page(), site.selectors.loginRefused);
  return new RunFailure('authentication_failed', { reason: refused ? 'bad_credentials' : 'sent_back_to_sign_in' });
}

/**
 * Opens the feed with the saved session and checks who is signed in (contract: social.health.check; CONN-8). Changes the
 * connection's health where the session or the account is the trouble; other failures leave it.
 */
const checkHealth = definePageProgram<CheckHealth>('social.health.check', async (run, site) => {
  const kind = await visitSignedIn(run, site, site.paths.feed);
  if (kind !== 'feed') throw loggedOut();
  const shown = await signedInActor(run, site);
  const endpoints = await Endpoints.open(run, site);
  const { data } = await endpoints.get('me', {}, isMe);
  if (shown !== data.hashId || (run.actorId !== null && run.actorId !== shown)) {
    throw new RunFailure('identity_mismatch', {}, { definite: true, effects: { health: 'invalid' } });
  }
  return { result: { health: 'ready', actor_id: shown }, effects: { health: 'ready', actorId: shown } };
});

/** Login and health check. */
export const sessionPrograms = [login, checkHealth] as const;
