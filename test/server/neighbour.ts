import type { Test } from 'tap';
import { SCOPES } from '../../storage/model/records.js';
import type { Database } from '../../storage/postgres/database.js';
import { createKey } from '../../storage/workspaces/keys.js';
import { createWorkspace } from '../../storage/workspaces/workspaces.js';
import { Client } from '../fixture/client.js';
import { type RunningService, type ServiceFixture, serviceFixture, startService } from '../fixture/service.js';

/** A service with two workspaces: the fixture's own, and a neighbour with a connection. It has no browser. */
export interface Neighbourhood {
  fixture: ServiceFixture;
  service: RunningService;
  neighbour: Client;
  connection: string;
}

export const person = (id: string) => ({ provider: 'simulated', external_actor: { kind: 'person', id } });

export async function startNeighbourhood(t: Test): Promise<Neighbourhood> {
  const fixture = await serviceFixture(t, { BROWSER_PATH: '/bin/false' });
  const service = await startService(t, fixture);
  const neighbour = new Client(service.url, await anotherKey(fixture.db));
  return { fixture, service, neighbour, connection: await neighbour.connect(person('neighbour')) };
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
  p99_ms: number;
  longest_ms: number;
  /** Statuses that were not expected. */
  refused: number[];
}

/** Sends requests one after the other until it is stopped. Each gives its status, which must be 200 or 202. */
export function keepAsking(requests: (() => Promise<{ status: number }>)[]): { stop(): Promise<Figures> } {
  const times: number[] = [];
  const refused: number[] = [];
  let stopped = false;
  const done = (async () => {
    for (let n = 0; !stopped; n++) {
      const startedAt = performance.now();
      const { status } = await requests[n % requests.length]!();
      times.push(performance.now() - startedAt);
      if (status !== 202 && status !== 200) refused.push(status);
    }
  })();
  return {
    async stop() {
      stopped = true;
      await done;
      times.sort((a, b) => a - b);
      const p99_ms = Math.round(times[Math.floor(times.length * 0.99)] ?? 0);
      return { count: times.length, p99_ms, longest_ms: Math.round(times.at(-1) ?? 0), refused };
    },
  };
}
