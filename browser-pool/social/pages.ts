import type { Page, Request, Response } from 'playwright';
import { failureOf, refusal, restricted, unfamiliar } from '../failures.js';
import type { ProgramRun } from '../program.js';
import type { PageKind, Site } from './site.js';

/** Opens a page of the site and says which one it became. Throws `RunFailure` for refusals and pages nobody knows. */
export async function visit(run: ProgramRun, site: Site, path: string): Promise<PageKind> {
  const page = await run.page();
  const response = await page.goto(site.origin + path, { timeout: run.navigation_ms() });
  return arrived(run, site, page, response?.status());
}

/** Submits the form that `button` stands in and says which page that led to. */
export async function submit(run: ProgramRun, site: Site, button: string): Promise<PageKind> {
  const page = await run.page();
  const timeout = run.navigation_ms();
  let status: number | undefined;
  const ofThisPage = (request: Request) => request.isNavigationRequest() && request.frame() === page.mainFrame();
  const answered = (response: Response) => {
    if (ofThisPage(response.request())) status = response.status();
  };
  page.on('response', answered);
  const led = page.waitForEvent('framenavigated', { predicate: (frame) => frame === page.mainFrame(), timeout });
  const failed = page.waitForEvent('requestfailed', { predicate: ofThisPage, timeout }).then((request) => {
    throw failureOf(new Error(request.failure()?.errorText ?? ''));
  });
  // Whichever of the two does not happen ends with the page.
  led.catch(() => {});
  failed.catch(() => {});
  try {
    await page.locator(button).click({ timeout });
    await Promise.race([led, failed]);
    await page.waitForLoadState('load', { timeout });
  } finally {
    page.off('response', answered);
  }
  return arrived(run, site, page, status);
}

/** The kind of the page that stands there. */
export async function kindOf(run: ProgramRun, site: Site): Promise<PageKind> {
  return arrived(run, site, await run.page(), undefined);
}

/** The account that the page shows as signed in. */
export async function signedInActor(run: ProgramRun, site: Site): Promise<string> {
  const { identity, identityHashId } = site.selectors;
  const page = await run.page();
  const hashId = await attribute(run, page, identity, identityHashId.attribute);
  if (hashId === null || !/^[A-Za-z0-9_+=-]{1,255}$/.test(hashId)) throw unfamiliar('identity');
  return hashId;
}

/** An attribute of the first element that fits, or null when there is none on the page as it is. */
export async function attribute(run: ProgramRun, page: Page, selector: string, name: string): Promise<string | null> {
  const element = page.locator(selector).first();
  if ((await element.count()) === 0) return null;
  return element.getAttribute(name, { timeout: run.navigation_ms() });
}

async function arrived(run: ProgramRun, site: Site, page: Page, status: number | undefined): Promise<PageKind> {
  const mark = await attribute(run, page, site.pageMark.selector, site.pageMark.attribute);
  const kinds = Object.keys(site.pages) as PageKind[];
  const kind = kinds.find((known) => site.pages[known] === mark);
  switch (kind) {
    case 'login':
    case 'challenge':
    case 'challengeExpired':
    case 'feed':
      return kind;
    case 'restricted':
      throw restricted();
    case 'forbidden':
    case 'notFound':
    case 'error':
    case undefined:
      throw refusal(status ?? 0) ?? unfamiliar('page');
    default:
      return kind satisfies never;
  }
}
