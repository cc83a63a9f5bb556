import { mkdirSync, readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { attachmentRoutes } from './api/attachments.js';
import { companyRoutes } from './api/companies.js';
import { connectionRoutes } from './api/connections.js';
import { conversationSearchRoutes } from './api/conversation-search.js';
import { conversationRoutes } from './api/conversations.js';
import { identityRoutes } from './api/identity.js';
import { invitationRoutes } from './api/invitations.js';
import { jobRoutes } from './api/jobs.js';
import { messageRoutes } from './api/messages.js';
import { peopleRoutes } from './api/people.js';
import { profileRoutes } from './api/profiles.js';
import { recruiterRoutes } from './api/recruiter.js';
import { typeaheadRoutes } from './api/typeahead.js';
import { certificateIn } from './certificate.js';
import { controlServer } from './control.js';
import { writeDescription } from './description.js';
import { Faults } from './faults.js';
import { fileRoutes } from './files.js';
import type { Route } from './http/exchange.js';
import { Front } from './http/front.js';
import { ORIGIN, REGIONS } from './limits.js';
import { Mailer } from './mailer.js';
import { checkpointRoutes } from './pages/checkpoint.js';
import { feedRoutes } from './pages/feed.js';
import { contractChosen, recruiterPageRoutes } from './pages/recruiter.js';
import { signedIn, signInRoutes } from './pages/sign-in.js';
import { openRegionalProxy } from './proxies.js';
import { Streams } from './realtime.js';
import { loadSettings, saveSettings } from './settings.js';
import { State } from './state/state.js';
import { steadyPort } from './steady-port.js';
import { Traffic } from './traffic.js';

/** The line that the process prints once the network is up. */
export interface Ready {
  ready: true;
  control_url: string;
  origin: string;
  ca_file: string;
  spki: string;
  proxies: { region: string; url: string; username: string; password: string }[];
  /** What services that share this network take as their PROVIDER. */
  provider_file: string;
}

export interface NetworkOptions {
  /** State, certificate, ports and credentials stand here. Made when missing. */
  dataDir: string;
  /** 0: the port of the last start when it is free, else any. */
  controlPort: number;
  /** What the data set of a new directory is made from. */
  seed: string;
}

/** Brings the whole network up. `close` ends streams, proxies and the control API, and flushes the journal. */
export async function startNetwork(options: NetworkOptions): Promise<{ ready: Ready; close(): Promise<void> }> {
  const directory = resolve(options.dataDir);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const settings = loadSettings(directory, options.seed);
  const certificate = await certificateIn(directory);

  const state = new State(settings.seed, directory);
  const faults = new Faults();
  const traffic = new Traffic(REGIONS);
  const streams = new Streams();
  const mailer = new Mailer(state, streams);
  state.sessions.onEnd((session) => streams.endSession(session));
  const front = new Front(state, faults, traffic, siteRoutes(state, mailer, streams), fileRoutes(state));

  const proxies = await Promise.all(settings.proxies.map((proxy) => openRegionalProxy(proxy, certificate, front)));
  const control = controlServer({ state, faults, streams, traffic, mailer });
  const controlPort = await listen(control, options.controlPort, settings.controlPort);

  settings.controlPort = controlPort;
  settings.proxies = settings.proxies.map((proxy, place) => ({ ...proxy, port: proxies[place]?.port ?? 0 }));
  saveSettings(directory, settings);

  const network = {
    control_url: `http://127.0.0.1:${controlPort}`,
    origin: ORIGIN,
    spki: certificate.spki,
    proxies: settings.proxies.map(({ region, port, username, password }) => {
      return { region, url: `http://127.0.0.1:${port}`, username, password };
    }),
  };
  const provider_file = writeDescription(directory, { ...network, ca: readFileSync(certificate.caFile, 'utf8') });
  const ready: Ready = { ready: true, ...network, ca_file: certificate.caFile, provider_file };
  const close = async (): Promise<void> => {
    streams.close();
    control.closeAllConnections();
    await Promise.all([...proxies.map((proxy) => proxy.close()), new Promise((done) => control.close(done))]);
    state.close();
  };
  return { ready, close };
}

/** The routes of the site, pages and endpoints. */
function siteRoutes(state: State, mailer: Mailer, streams: Streams): Route[] {
  return [
    ...signInRoutes(state),
    ...checkpointRoutes(state, (exchange, { purpose }, account) =>
      purpose.for === 'login'
        ? signedIn(state, exchange, account, purpose.next)
        : contractChosen(state, exchange, purpose.contractId),
    ),
    ...feedRoutes(state),
    ...identityRoutes(state),
    ...peopleRoutes(state),
    ...profileRoutes(state),
    ...companyRoutes(state),
    ...typeaheadRoutes(state),
    ...connectionRoutes(state),
    ...invitationRoutes(state),
    ...conversationRoutes(state),
    ...conversationSearchRoutes(state),
    ...attachmentRoutes(state),
    ...messageRoutes(state, mailer),
    ...jobRoutes(state),
    ...recruiterPageRoutes(state),
    ...recruiterRoutes(state),
    ...streams.routes(),
  ];
}

/** Listens on `wanted`; when that is 0, on the port of the last start if it is free, at the first on a steady one, else on any. Gives the port. */
async function listen(server: Server, wanted: number, last: number): Promise<number> {
  const attempt = (port: number): Promise<number> =>
    new Promise((done, fail) => {
      server.once('error', fail);
      server.listen(port, '127.0.0.1', () => {
        server.off('error', fail);
        done((server.address() as AddressInfo).port);
      });
    });
  if (wanted !== 0) return attempt(wanted);
  return attempt(last || (await steadyPort())).catch(() => attempt(0));
}
