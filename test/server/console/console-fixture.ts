import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import axe, { type AxeResults, type RunOptions } from 'axe-core';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright';
import type { Test } from 'tap';
import { findBrowser } from '../../../browser-pool/chromium/find-browser.js';
import { SCOPES, type Scope } from '../../../storage/model/records.js';
import { createKey } from '../../../storage/workspaces/keys.js';
import { createOperator } from '../../../storage/workspaces/operators.js';
import type { Client } from '../../fixture/client.js';
import type { ServiceFixture } from '../../fixture/service.js';
import { inService, inSharedService, type OwnService, type SharedService } from '../../fixture/shared-service.js';
import { AT_LENGTH, sized } from '../../fixture/size.js';
import { connect } from '../../fixture/webhooks.js';

/** At a desk and with a phone, by day and by night. */
export const VIEWS: readonly [desk: BrowserContextOptions, phone: BrowserContextOptions] = [
  { viewport: { width: 1440, height: 900 }, colorScheme: 'light' },
  { viewport: { width: 375, height: 812 }, colorScheme: 'dark' },
];

/** Both at length; in the suite one of them for each test, which its name decides: each is that of about half of them. */
export const viewsOf = (t: Test): readonly BrowserContextOptions[] =>
  sized([VIEWS[t.name.length % 2] ?? VIEWS[0]], [...VIEWS]);

/** Set: pictures of each step are kept there, to be looked at. */
const PICTURES = process.env.TEST_PICTURES;

interface Load {
  /** Operations are submitted in the test's workspace meanwhile: its pages are told of changes each second. */
  load?: boolean;
}

/** A workspace of the shared service, and a browser for its console; what the pages complain of is gathered in `complaints`. */
export const consoleFixture = async (t: Test, { load = false }: Load = {}) =>
  withPages(t, await inSharedService(t), load);

/** The same in a service of the file (`ownService`), for tests that end it, set it otherwise, or change what others see. */
export const consoleIn = async (t: Test, service: OwnService | Promise<OwnService>, { load = false }: Load = {}) =>
  withPages(t, await inService(t, await service), load);

async function withPages<Service extends SharedService>(t: Test, service: Service, load: boolean) {
  if (load) await keepBusy(t, service.client);
  const browser = await browserOf(t);
  const complaints: string[] = [];

  /** A tab of a browser of its own at this address. */
  const openAt = async (url: string, view: BrowserContextOptions = VIEWS[0]): Promise<Page> => {
    const context = await browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'], ...view });
    t.teardown(() => context.close());
    const page = await context.newPage();
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('dialog', (dialog) => {
      if (dialog.type() !== 'beforeunload') complaints.push(`a script runs: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on('console', (message) => {
      // A refusal is an answer that the browser shows as an error.
      if (message.type() === 'error' && !/status of 4\d\d/.test(message.text())) complaints.push(message.text());
    });
    page.on('request', (one) => {
      if (!one.url().startsWith(`${service.url}/`) && !one.url().startsWith('data:')) complaints.push(one.url());
    });
    await page.goto(url);
    return page;
  };

  /** The same at this place of the console, such as `#/operations`. */
  const open = (place = '', view?: BrowserContextOptions) => openAt(`${service.url}/console${place}`, view);

  /** The same, signed in; with the key of the workspace that has every scope, unless another is given. */
  const signedIn = async (place = '', view: BrowserContextOptions = VIEWS[0], key = service.key): Promise<Page> => {
    const page = await open(place, view);
    await signIn(page, key);
    return page;
  };

  return { ...service, openAt, open, signedIn, complaints };
}

const CLIENTS = 2;
const PACE_ms = 20;

let browser: { of: Test; launched: Promise<Browser> } | undefined;

/** One browser for the tests of a file. */
function browserOf(t: Test): Promise<Browser> {
  const file = fileOf(t);
  if (browser?.of !== file) {
    const executablePath = findBrowser();
    if (!executablePath) throw new Error('no browser is installed');
    const launched = chromium.launch({ executablePath, args: ['--no-sandbox'] });
    file.teardown(async () => (await launched).close());
    browser = { of: file, launched };
  }
  return browser.launched;
}

/** The test of the whole file. */
const fileOf = (t: Test): Test => (t.parent ? fileOf(t.parent as Test) : t);

/** Operations are submitted, about eighty a second, until the test ends. */
async function keepBusy(t: Test, client: Client): Promise<void> {
  const ended = new AbortController();
  t.teardown(() => ended.abort());
  for (let i = 0; i < CLIENTS; i++) void submitting(client, await connect(client), ended.signal);
}

async function submitting(client: Client, connection: string, ended: AbortSignal): Promise<void> {
  const body = { capability: 'social.identity.get', input: {} };
  while (!ended.aborted) {
    const submitted = client.send('POST', `/v1/connections/${connection}/operations`, body, {
      'idempotency-key': randomUUID(),
    });
    await submitted.catch(() => {}); // the service of the test is stopped, or started again
    await delay(PACE_ms, undefined, { ref: false });
  }
}

export async function signIn(page: Page, key: string): Promise<void> {
  await page.getByLabel('Key').fill(key);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
}

/** A key of the workspace that has these scopes. */
export async function keyWith({ db, workspaceId }: Pick<ServiceFixture, 'db' | 'workspaceId'>, ...scopes: Scope[]) {
  const made = await createKey(db, { workspaceId, name: 'narrow', scopes, expiresAt: null });
  if (!made) throw new Error('no key');
  return made;
}

/** A key of the workspace that lacks this scope. */
export const keyWithout = (fixture: Pick<ServiceFixture, 'db' | 'workspaceId'>, scope: Scope) =>
  keyWith(fixture, ...SCOPES.filter((one) => one !== scope));

/** An operator's key. */
export async function operatorKey({ db }: Pick<ServiceFixture, 'db'>): Promise<string> {
  return (await createOperator(db, 'Grace', null)).key;
}

/** Axe finds nothing, at length by the other colours neither; nothing is wider than the screen, and a picture is kept where pictures are. */
export async function looksRight(t: Test, page: Page, name: string): Promise<void> {
  const { width } = page.viewportSize() ?? { width: 0 };
  if (PICTURES) await page.screenshot({ path: `${PICTURES}/console-${name}-${width}.png`, fullPage: true });
  t.strictSame(await found(page), [], `${name}: axe finds nothing`);
  if (AT_LENGTH) {
    const dark = await page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches");
    await page.emulateMedia({ colorScheme: dark ? 'light' : 'dark' });
    const others = await found(page, { runOnly: ['color-contrast'] });
    t.strictSame(others, [], `${name}: axe finds nothing by the other colours`);
    await page.emulateMedia({ colorScheme: dark ? 'dark' : 'light' });
  }
  const wide = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
  t.equal(wide, 0, `${name}: nothing is wider than the screen`);
}

/** What axe finds. A page has no frames of another origin: it runs in the page itself, where it is loaded once. */
async function found(page: Page, options: RunOptions = {}) {
  if (!(await page.evaluate("'axe' in globalThis"))) await page.evaluate(axe.source);
  const { violations }: AxeResults = await page.evaluate(`axe.run(${JSON.stringify(options)})`);
  return violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]);
}
