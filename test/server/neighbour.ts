import type { Test } from 'tap';
import { SCOPES } from '../../storage/model/records.js';
import type { Database } from '../../storage/postgres/database.js';
import { createKey } from '../../storage/workspaces/keys.js';
import { createWorkspace } from '../../storage/workspaces/workspaces.js';
import { Client } from '../fixture/client.js';
import { eventually } from '../fixture/eventually.js';
import { inService, type OwnService, ownService } from '../fixture/shared-service.js';

/** A workspace in a service, and a neighbour with a connection. */
export interface Neighbourhood {
  service: OwnService;
  neighbour: Client;
  connection: string;
}

export const person = (id: string) => ({ provider: 'simulated', external_actor: { kind: 'person', id } });

/** A service for the tests of a file. */
export const neighbourhoodService = (t: Test): Promise<OwnService> => ownService(t, { BROWSER_PATH: '/bin/false' });

export async function startNeighbourhood(t: Test, started: Promise<OwnService>): Promise<Neighbourhood> {
  const service = await inService(t, await started);
  const neighbour = new Client(service.url, await anotherKey(service.db));
  return { service, neighbour, connection: await neighbour.connect(person('neighbour')) };
}

async function anotherKey(db: Database): Promise<string> {
  const { id } = await createWorkspace(db, 'neighbour');
  const created = await createKey(db, { workspaceId: id, name: 'neighbour', scopes: SCOPES, expiresAt: null });
  if (!created) throw new Error('no key');
  return created.key;
}

/** How the requests of one client went. */
export interface Figures {
  count: number;
  /** For comments alone: a loaded machine makes them any size. */
  p99_ms: number;
  longest_ms: number;
  /** Requests of others that were answered between one of them and its answer: of every other one no more than these. */
  median_ahead: number;
  /** The same of all but one in a hundred: of fewer than some hundreds one commit that takes long decides it. */
  p99_ahead: number;
  /** Statuses that were not expected. */
  refused: number[];
}

/**
 * Sends requests one after the other until it is stopped. Each gives its status, which must be 200 or 202. `others`: how many requests of
 * others have been answered by now. `done` resolves when so many have been answered.
 */
export function keepAsking(
  requests: (() => Promise<{ status: number }>)[],
  others: () => number = () => 0,
): { stop(): Promise<Figures>; done(count: number): Promise<void> } {
  const times: number[] = [];
  const ahead: number[] = [];
  const refused: number[] = [];
  let stopped = false;
  const done = (async () => {
    for (let n = 0; !stopped; n++) {
      const startedAt = performance.now();
      const before = others();
      const { status } = await requests[n % requests.length]!();
      times.push(performance.now() - startedAt);
      ahead.push(others() - before);
      if (status !== 202 && status !== 200) refused.push(status);
    }
  })();
  const quantile = (all: number[], part: number) =>
    Math.round(all.sort((a, b) => a - b)[Math.floor(all.length * part)] ?? 0);
  return {
    async done(count) {
      await eventually(
        `${count} requests are answered`,
        () => times.length,
        (answered) => answered >= count,
      );
    },
    async stop() {
      stopped = true;
      await done;
      return {
        count: times.length,
        p99_ms: quantile(times, 0.99),
        longest_ms: Math.round(times.at(-1) ?? 0),
        median_ahead: quantile(ahead, 0.5),
        p99_ahead: quantile(ahead, 0.99),
        refused,
      };
    },
  };
}
