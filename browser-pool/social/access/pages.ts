import type { Page, Request, Response } from 'playwright';
import { Deadline } from '../../../storage/process/deadline.js';
import {
  failureOf,
  isEndlessRedirects,
  loggedOut,
  proxyTrouble,
  RunFailure,
  refusal,
  restricted,
  unexpectedAnswer,
  upstreamTimeout,
} from '../../failures.js';
import { LIMITS } from '../../limits.js';
import type { ProgramRun } from '../../program.js';
import type { PageKind, Site } from '../site/site.js';
import { kindFailure } from './signed-out.js';

/** Opens a page of the site and gives the kind it became. Throws `RunFailure` for refusals and unknown pages. */
export function visit(run: ProgramRun, site: Site, path: string): Promise<PageKind> {
  return visitAgain(run, site, site.origin + path);
}

/** The same for the address of a page that the run has been on. */
export function visitAgain(run: ProgramRun, site: Site, address: string): Promise<PageKind> {
  return navigate(run, site, async (page, timeout) => {
    await page.goto(address, { timeout, waitUntil: 'domcontentloaded' });
    await settled(site, page, timeout);
  });
}

/** Opens a page in a session. Throws `authentication_failed` when the site asks for a sign-in or a check instead, or sends it on for ever. */
export async function visitSignedIn(run: ProgramRun, site: Site, path: string): Promise<PageKind> {
  const kind = await visit(run, site, path).catch((error: unknown) => {
    throw error instanceof RunFailure && isEndlessRedirects(error) ? loggedOut('endless_redirects') : error;
  });
  const trouble = kindFailure(kind, true);
  if (trouble) throw trouble;
  return kind;
}

/** Submits the form that `button` stands in and gives the kind of the page that follows. */
export function submit(run: ProgramRun, site: Site, button: string): Promise<PageKind> {
  return navigate(run, site, async (page, timeout) => {
    const led = page.waitForEvent('framenavigated', { predicate: (frame) => frame === page.mainFrame(), timeout });
    led.catch(() => {});
    await page.locator(button).click({ timeout });
    await led;
    await page.waitForLoadState('domcontentloaded', { timeout });
    await settled(site, page, timeout);
  });
}

/**
 * Resolves when all of the page has come: what it still asks for would take its cookies from under the next request. What goes on for longer than
 * `page_rest_ms` on a page that shows which one it is, such as a picture that never ends, holds nothing up.
 */
async function settled(site: Site, page: Page, timeout: number): Promise<void> {
  const rest_ms = Math.min(timeout, LIMITS.page_rest_ms);
  const loaded = await page.waitForLoadState('load', { timeout: rest_ms }).then(
    () => true,
    () => false,
  );
  if (loaded || (await page.locator(site.pageMark.selector).count()) > 0) return;
  await page.waitForLoadState('load', { timeout });
}

/**
 * Does what leads to another page and waits until it stands there. A failed request of the page itself ends the wait:
 * a connection that the proxy refused would otherwise look like a page that never comes.
 */
async function navigate(
  run: ProgramRun,
  site: Site,
  act: (page: Page, timeout_ms: number) => Promise<void>,
): Promise<PageKind> {
  const page = await run.page();
  const ofThisPage = (request: Request) => request.isNavigationRequest() && request.frame() === page.mainFrame();
  let last: Response | undefined;
  const answered = (response: Response) => {
    if (ofThisPage(response.request())) last = response;
  };
  let failed: (request: Request) => void = () => {};
  const failure = new Promise<never>((_, reject) => {
    failed = (request) => {
      if (!ofThisPage(request)) return;
      reject(last?.status() === 407 ? proxyTrouble('refused') : failureOf(new Error(request.failure()?.errorText)));
    };
  });
  page.on('response', answered);
  page.on('requestfailed', failed);
  const done = act(page, run.navigation_ms());
  done.catch(() => {});
  try {
    await Promise.race([done, failure]);
  } finally {
    page.off('response', answered);
    page.off('requestfailed', failed);
  }
  return arrived(run, site, page, last);
}

/** The kind of the page that stands there. */
export async function kindOf(run: ProgramRun, site: Site): Promise<PageKind> {
  return arrived(run, site, await run.page(), undefined);
}

/**
 * Types what is secret into a field, only where the document that the field stands in came from the site itself: a redirect may lead to a page
 * of another host that looks the same. Throws `parsing_error` there.
 */
export async function typeSecret(run: ProgramRun, site: Site, selector: string, secret: string): Promise<void> {
  const page = await run.page();
  const timeout = run.navigation_ms();
  // Of one document: what leads elsewhere from here on takes the field away.
  const field = await page.locator(selector).elementHandle({ timeout });
  const frame = await field?.ownerFrame();
  if (!field || frame !== page.mainFrame() || originOf(frame.url()) !== originOf(site.origin))
    throw unexpectedAnswer('page_origin');
  await field.fill(secret, { timeout });
}

const originOf = (address: string): string | null => (URL.canParse(address) ? new URL(address).origin : null);

/** The account that the page shows as signed in. */
export async function signedInActor(run: ProgramRun, site: Site): Promise<string> {
  const { identity, identityHashId } = site.selectors;
  const page = await run.page();
  const hashId = await attribute(run, page, identity, identityHashId.attribute);
  if (hashId === null || !/^[A-Za-z0-9_+=-]{1,255}$/.test(hashId)) throw unexpectedAnswer('identity');
  return hashId;
}

/** An attribute of the first element that fits, or null when there is none on the page as it is. */
export async function attribute(run: ProgramRun, page: Page, selector: string, name: string): Promise<string | null> {
  if (!(await shows(run, page, selector))) return null;
  return page.locator(selector).first().getAttribute(name, { timeout: run.navigation_ms() });
}

/** Whether the page has such an element as it is. Has a deadline of its own: a page in a busy loop answers nothing. */
export async function shows(run: ProgramRun, page: Page, selector: string): Promise<boolean> {
  const found = page.locator(selector).count();
  return (await Deadline.within(run.navigation_ms(), found, { reason: upstreamTimeout })) > 0;
}

async function arrived(run: ProgramRun, site: Site, page: Page, response: Response | undefined): Promise<PageKind> {
  const mark = await attribute(run, page, site.pageMark.selector, site.pageMark.attribute);
  const kinds = Object.keys(site.pages) as PageKind[];
  const kind = kinds.find((known) => site.pages[known] === mark);
  switch (kind) {
    case 'login':
    case 'challenge':
    case 'challengeExpired':
    case 'feed':
    case 'recruiter':
    case 'recruiterContracts':
    case 'recruiterUnavailable':
      return kind;
    case 'restricted':
      throw restricted();
    case 'forbidden':
    case 'notFound':
    case 'error':
    case undefined:
      throw (
        refusal(response?.status() ?? 0, {
          retryAfter: response?.headers()['retry-after'],
        }) ?? unexpectedAnswer('page')
      );
    default:
      return kind satisfies never;
  }
}
