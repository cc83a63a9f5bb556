import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { demoReceiver } from '../../../server/start/demo-receiver.js';
import { SCOPES, type Scope } from '../../../storage/model/records.js';
import type { Database } from '../../../storage/postgres/database.js';
import { createKey } from '../../../storage/workspaces/keys.js';
import { createWorkspace } from '../../../storage/workspaces/workspaces.js';
import type { SplitCores } from '../../kit/cores.js';
import { Child } from '../../kit/program.js';
import { type BenchService, startService } from '../../kit/service.js';
import { TemporaryFolder } from '../../kit/temporary-folder.js';
import { LIMITS } from './limits.js';
import type { FromNeighbour, Tenant, ToNeighbour } from './messages.js';

/** The service, its database, and the neighbour, who works on a workspace of its own. Each is a process. */
export interface AbuseWorld {
  service: BenchService;
  db: Database;
  neighbour: Child<ToNeighbour, FromNeighbour>;
  /** A new workspace with a key of these scopes. */
  tenant(name: string, scopes?: readonly Scope[]): Promise<Tenant>;
}

export interface WorldOptions {
  cores: SplitCores | null;
  settings?: Record<string, string>;
  onLog?: (line: string) => void;
}

/** Starts all of it, works with it, and ends it however the work ends. */
export async function withAbuseWorld<T>(options: WorldOptions, work: (world: AbuseWorld) => Promise<T>): Promise<T> {
  const { cores, settings = {}, onLog } = options;
  await using folder = new TemporaryFolder(join(tmpdir(), 'bench-abuse-'));
  const { host, key, cert, secret, caFile } = await demoReceiver(folder.path);
  const callbacks = { CALLBACK_ALLOWED_NETWORKS: `${host}/32`, CALLBACK_CA_FILE: caFile };
  await using service = await startService(
    { ...callbacks, ...settings },
    { inspect: true, cores: cores?.service, onLog },
  );
  return await service.withDatabase(async (databaseUrl, db) => {
    const tenant = async (name: string, scopes: readonly Scope[] = SCOPES): Promise<Tenant> => {
      const { id: workspaceId } = await createWorkspace(db, name);
      const created = await createKey(db, { workspaceId, name, scopes, expiresAt: null });
      if (!created) throw new Error('the workspace is gone');
      const identity = { host, key, cert, secret };
      return { url: service.addresses.url, key: created.key, workspaceId, databaseUrl, identity };
    };
    await using neighbour = new Child<ToNeighbour, FromNeighbour>(
      new URL('./neighbour.js', import.meta.url),
      cores?.client,
    );
    await neighbour.ask({ type: 'start', tenant: await tenant('neighbour') }, 'ready', LIMITS.prepare_ms);
    return await work({ service, db, neighbour, tenant });
  });
}
