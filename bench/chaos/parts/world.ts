import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { demoReceiver } from '../../../server/start/demo-receiver.js';
import { SCOPES } from '../../../storage/model/records.js';
import { openDatabase } from '../../../storage/postgres/database.js';
import { migrate } from '../../../storage/postgres/migrate.js';
import { createKey } from '../../../storage/workspaces/keys.js';
import { createWorkspace } from '../../../storage/workspaces/workspaces.js';
import { NetworkProcess } from '../../network-process.js';
import { ChaosDatabase } from './database.js';
import { ChaosNode, type OwnEnd } from './node.js';
import { ChaosReceiver } from './receiver.js';
import type { Started } from './started.js';

/** All parts of a run: one database, one stand-in network, nodes that share both, receivers. */
export interface World {
  folder: string;
  database: ChaosDatabase;
  network: NetworkProcess;
  nodes: ChaosNode[];
  receivers: ChaosReceiver[];
  /** Of the one workspace, with every scope. */
  key: string;
  /** The callbacks that the receivers got, a line each. */
  callbacksFile: string;
  ownEnds: OwnEnd[];
}

const RECEIVERS = 3;

/** Starts everything; what has started is in `started`, also when the rest does not start. */
export async function startWorld(folder: string, nodes: number, started: Started): Promise<World> {
  const database = started.add(await ChaosDatabase.start(folder));
  const network = await NetworkProcess.start(join(folder, 'network'));
  started.onEnd(async () => {
    await network.stop();
  });
  const identity = await demoReceiver(folder);
  const callbacksFile = join(folder, 'callbacks.jsonl');
  const receivers: ChaosReceiver[] = [];
  for (let number = 0; number < RECEIVERS; number++) {
    receivers.push(started.add(await ChaosReceiver.start(identity, callbacksFile)));
  }
  await migrate(database.url);
  const key = await workspaceKey(database.url);
  const env = {
    ENCRYPTION_KEYS: `chaos:${randomBytes(32).toString('base64')}`,
    PROVIDER: network.ready.provider_file,
    CALLBACK_ALLOWED_NETWORKS: `${identity.host}/32`,
    CALLBACK_CA_FILE: identity.caFile,
  };
  const ownEnds: OwnEnd[] = [];
  const all: ChaosNode[] = [];
  for (let number = 0; number < nodes; number++) {
    const role = `node_${number}`;
    await database.addRole(role);
    const own = join(folder, `node-${number}`);
    await mkdir(own, { recursive: true });
    const databasePort = database.port;
    const onOwnEnd = (end: OwnEnd) => ownEnds.push(end);
    all.push(await ChaosNode.start({ number, folder: own, databasePort, role, env, onOwnEnd }));
  }
  // All at once: each drains for seconds.
  started.onEnd(async () => {
    await Promise.all(all.map((node) => node[Symbol.asyncDispose]()));
  });
  await Promise.all(all.map((node) => node.serves()));
  return { folder, database, network, nodes: all, receivers, key, callbacksFile, ownEnds };
}

async function workspaceKey(url: string): Promise<string> {
  const db = openDatabase({ url, maxConnections: 1, applicationName: 'chaos' });
  try {
    const workspace = await createWorkspace(db, 'chaos');
    const created = await createKey(db, { workspaceId: workspace.id, name: 'chaos', scopes: SCOPES, expiresAt: null });
    if (!created) throw new Error('the workspace is gone');
    return created.key;
  } finally {
    await db.close();
  }
}
