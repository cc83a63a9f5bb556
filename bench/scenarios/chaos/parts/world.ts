import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { demoReceiver } from '../../../../server/start/demo-receiver.js';
import { SCOPES } from '../../../../storage/model/records.js';
import { NetworkProcess } from '../../../kit/network-process.js';
import { admin } from './admin.js';
import { ChaosDatabase } from './database.js';
import { ChaosNode, type OwnEnd } from './node.js';
import { PROGRAM } from './program.js';
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
  /** Of the nodes, as they were started: `ENCRYPTION_KEYS`. */
  encryptionKeys: string;
}

const RECEIVERS = 3;

export interface WorldOptions {
  /** The `main.js` that the nodes start with; the database is of the same version. Absent: this version's. */
  program?: string;
  /** Further variables of every node. */
  env?: Record<string, string>;
}

/** Starts everything; what has started is in `started`, also when the rest does not start. */
export async function startWorld(
  folder: string,
  nodes: number,
  started: Started,
  { program = PROGRAM, env: further = {} }: WorldOptions = {},
): Promise<World> {
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
  const key = await workspaceKey(program, database.url);
  const env = {
    ENCRYPTION_KEYS: `chaos:${randomBytes(32).toString('base64')}`,
    PROVIDER: network.ready.provider_file,
    CALLBACK_ALLOWED_NETWORKS: `${identity.host}/32`,
    CALLBACK_CA_FILE: identity.caFile,
    ...further,
  };
  const ownEnds: OwnEnd[] = [];
  const all: ChaosNode[] = [];
  for (let number = 0; number < nodes; number++) {
    const role = `node_${number}`;
    const databaseUrl = await database.addRole(role);
    const own = join(folder, `node-${number}`);
    await mkdir(own, { recursive: true });
    const onOwnEnd = (end: OwnEnd) => ownEnds.push(end);
    all.push(await ChaosNode.start({ number, folder: own, role, databaseUrl, program, env, onOwnEnd }));
  }
  // All at once: each drains for seconds.
  started.onEnd(async () => {
    await Promise.all(all.map((node) => node[Symbol.asyncDispose]()));
  });
  await Promise.all(all.map((node) => node.serves()));
  return {
    folder,
    database,
    network,
    nodes: all,
    receivers,
    key,
    callbacksFile,
    ownEnds,
    encryptionKeys: env.ENCRYPTION_KEYS,
  };
}

/** Of a new workspace. The commands are the program's own version's, and so is the schema that they make. */
async function workspaceKey(program: string, url: string): Promise<string> {
  const env = { DATABASE_URL: url };
  const { workspace_id } = await admin(program, env, 'workspace', 'create', '--name', 'chaos');
  const scopes = SCOPES.join(',');
  const { key } = await admin(program, env, 'key', 'create', '--workspace', String(workspace_id), '--scopes', scopes);
  return String(key);
}
