import type { Logger } from '../storage/log/log.js';
import { Deadline } from '../storage/process/deadline.js';
import { BrowserKeeper } from './chromium/browser-keeper.js';
import type { SandboxSetting } from './chromium/confinement.js';
import { nameToResolve } from './chromium/egress.js';
import { SessionContext } from './contexts/session-context.js';
import { RunFailure } from './failures.js';
import { LIMITS } from './limits.js';
import type { ProxyTarget } from './messages.js';
import { askTunnel, secured } from './social/access/site-connection.js';
import { type Site, trustingArguments } from './social/site/site.js';

/** What came of one use of a proxy. `not_tried`: there is no browser, or the other use did not reach it. */
export type Tried = 'works' | 'unreachable' | 'not_tried';

/** By what writes, reads, files and streams do, and by what page programs do. */
export interface ProxyTrial {
  service: Tried;
  browser: Tried;
}

/** The proxy answers, and one of its users cannot use it: the message says why. It names no credential. */
export class UnusableProxy extends Error {}

/**
 * Uses a proxy once as the service would, which opens a connection to the site and sends nothing, and once as a browser would, which opens the
 * site's first page. Takes some seconds. One that nothing answers for may be reachable from elsewhere.
 * @throws UnusableProxy
 */
export async function tryProxy(
  site: Site,
  proxy: ProxyTarget,
  options: { log: Logger; sandbox: SandboxSetting },
): Promise<ProxyTrial> {
  const service = await tryAsService(site, proxy);
  return { service, browser: service === 'works' ? await tryInBrowser(site, proxy, options) : 'not_tried' };
}

async function tryAsService(site: Site, proxy: ProxyTarget): Promise<Tried> {
  const { hostname, port } = new URL(site.origin);
  const limit = new Deadline(LIMITS.request_ms);
  try {
    const tunnel = await askTunnel(proxy, `${hostname}:${port || 443}`, limit.signal).catch(unanswered);
    if (tunnel === undefined) return 'unreachable';
    const { status, socket } = tunnel;
    try {
      if (status === 407) throw new UnusableProxy(refusedCredentials(proxy));
      if (status !== 200) throw new UnusableProxy(`it does not lead to ${hostname}: it answers with status ${status}`);
      (await secured(socket, hostname, site.ca, limit.signal)).destroy();
      return 'works';
    } finally {
      socket.destroy();
    }
  } catch (error) {
    if (!(error instanceof RunFailure)) throw error;
    throw new UnusableProxy(`what it leads to does not prove that it is ${hostname}`);
  } finally {
    limit.stop();
  }
}

const UNREACHABLE = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|ABORT_ERR)$/;

/** Undefined where nothing answers; whatever answers otherwise is no proxy that the service can use. */
function unanswered(error: NodeJS.ErrnoException): undefined {
  const { code = 'unknown' } = error;
  if (UNREACHABLE.test(code)) return undefined;
  if (/CERT|SIGNATURE|ISSUER/.test(code)) throw new UnusableProxy(`its certificate is not trusted (${code})`);
  throw new UnusableProxy(`what answers is not a proxy of this kind (${code})`);
}

const refusedCredentials = ({ username }: ProxyTarget) =>
  username === undefined ? 'it wants a name and a password' : 'it refuses the name and the password';

async function tryInBrowser(
  site: Site,
  proxy: ProxyTarget,
  { log, sandbox }: { log: Logger; sandbox: SandboxSetting },
): Promise<Tried> {
  const keeper = new BrowserKeeper(trustingArguments(site), LIMITS, log, sandbox);
  try {
    const browser = await keeper.current(nameToResolve(proxy.server)).catch(() => undefined);
    if (browser === undefined) return 'not_tried';
    const session = await SessionContext.open(browser, proxy, null);
    const page = await session.newPage();
    const answer = await page.goto(site.origin, { timeout: LIMITS.navigation_ms, waitUntil: 'commit' });
    if (answer?.status() === 407) throw new UnusableProxy(`a browser cannot use it: ${refusedCredentials(proxy)}`);
    return 'works';
  } catch (error) {
    if (error instanceof UnusableProxy) throw error;
    const [, code = 'no answer'] = /net::(\w+)/.exec((error as Error).message) ?? [];
    throw new UnusableProxy(`a browser cannot use it (${code})`);
  } finally {
    await keeper.close();
  }
}
