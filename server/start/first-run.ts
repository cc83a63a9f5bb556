import { join } from 'node:path';
import { recordAudit } from '../../storage/audit/record.js';
import { isSandboxProxy, listProxies, removeProxy, upsertSandboxProxies } from '../../storage/connections/proxies.js';
import type { Logger } from '../../storage/log/log.js';
import type { AuditAction, AuditTarget } from '../../storage/model/audit.js';
import { SCOPES } from '../../storage/model/records.js';
import type { Database, Transaction } from '../../storage/postgres/database.js';
import type { KeyRing } from '../../storage/secrets/encryption.js';
import { createKey, findUsableKey } from '../../storage/workspaces/keys.js';
import { createWorkspace, listWorkspaces } from '../../storage/workspaces/workspaces.js';
import { commandLine } from './command-line.js';
import { demoReceiver } from './demo-receiver.js';
import type { SandboxReady } from './provider/sandbox-ready.js';
import { type Config, ConfigError } from './settings/config.js';
import { load, replace } from './settings/private-file.js';

/* What `npm start` puts in place so that a newcomer can send a request at once. */

const DEMO_WORKSPACE = 'demo';

/**
 * The configuration that also allows callbacks to the receiver of this machine, when the service runs on the stand-in
 * network and the embedded database and the operator set no variable about callbacks. Otherwise as it is.
 */
export async function withDemoReceiver(config: Config): Promise<Config> {
  const decided = config.callbackAllowedNetworks !== null || config.callbackCaFile !== null;
  if (config.databaseUrl !== null || config.provider.kind !== 'sandbox' || decided) return config;
  const receiver = await demoReceiver(config.dataDir);
  const callbackAllowedEndpoints = [{ address: receiver.host, port: receiver.port }];
  return { ...config, callbackAllowedEndpoints, callbackCaFile: receiver.caFile };
}

/**
 * The key of the demo workspace, with every scope: kept in `DATA_DIR/demo-key` (mode 0600), so that the next start
 * shows the same one; a revoked one is replaced. Null with a DATABASE_URL, where operators make keys.
 */
export async function ensureDemoKey(config: Config, db: Database): Promise<string | null> {
  if (config.databaseUrl !== null) return null;
  const file = join(config.dataDir, 'demo-key');
  const kept = (await load(file))?.trim();
  if (kept && (await findUsableKey(db, kept))) return kept;
  const created = await db.transaction(async (tx) => {
    const workspaceId = await demoWorkspace(tx);
    const made = await createKey(tx, { workspaceId, name: 'demo', scopes: SCOPES, expiresAt: null });
    if (!made) throw new Error('the demo workspace is gone');
    await recordStart(tx, 'key.create', [['key', made.row.id]], workspaceId);
    return made;
  });
  await replace(file, `${created.key}\n`);
  return created.key;
}

async function demoWorkspace(tx: Transaction): Promise<string> {
  const found = (await listWorkspaces(tx)).find(({ name }) => name === DEMO_WORKSPACE);
  if (found) return found.id;
  const { id } = await createWorkspace(tx, DEMO_WORKSPACE);
  await recordStart(tx, 'workspace.create', [['workspace', id]], id);
  return id;
}

/** What a start makes is in the audit log as what a command makes is (HTTP-30). */
function recordStart(
  tx: Transaction,
  action: AuditAction,
  targets: readonly AuditTarget[],
  workspaceId: string | null,
) {
  const details = { command: 'start' };
  return recordAudit(tx, { actor: commandLine(), action, workspaceId, targets, requestId: null, details });
}

/**
 * Makes the stand-in network's proxies the regional proxies; again after each of its restarts. Nodes that share a network
 * write the same rows.
 */
export async function useSandboxProxies(
  db: Database,
  ring: KeyRing,
  sandbox: Pick<SandboxReady, 'proxies'>,
  log: Logger,
): Promise<void> {
  if (!ring.available) {
    log.warn('stand-in network: it has no regional proxies, because there is no encryption key (ENCRYPTION_KEYS)');
    return;
  }
  const rows = await db.transaction(async (tx) => {
    const stored = await upsertSandboxProxies(tx, ring, sandbox.proxies);
    const added = stored.filter(({ made }) => made).map(({ id }) => ['proxy', id] as const);
    if (added.length > 0) await recordStart(tx, 'proxy.add', added, null);
    return stored;
  });
  log.info({ regions: rows.map((row) => row.region) }, 'stand-in network: its regional proxies are in place');
}

/**
 * Sessions of an installation with proxies of its own must not leave by those of a stand-in network, which every node would take.
 * @throws ConfigError where PROVIDER was forgotten
 */
export async function refuseForgottenProvider(config: Config, db: Database): Promise<void> {
  if (config.databaseUrl === null || !config.providerByDefault) return;
  if ((await listProxies(db)).every(isSandboxProxy)) return;
  throw new ConfigError(
    'PROVIDER is not set, and the database has regional proxies of its own: set it to the site description, or to "sandbox"',
  );
}

/** Removes what a trial on this database left: a site of one's own is not reached through a stand-in network's proxies. */
export async function removeSandboxProxies(db: Database, log: Logger): Promise<void> {
  const left = (await listProxies(db)).filter(isSandboxProxy);
  if (left.length === 0) return;
  await db.transaction(async (tx) => {
    for (const { id } of left) {
      if ((await removeProxy(tx, id)) !== undefined) await recordStart(tx, 'proxy.remove', [['proxy', id]], null);
    }
  });
  log.warn(
    { proxies: left.length },
    'regional proxies of a stand-in network were removed: PROVIDER is a site of its own',
  );
}
