import { SCOPES } from '../../../storage/model/records.js';
import type { KeyJson, KeysJson } from '../../routes/operator/keys.js';
import type { LimitsJson } from '../../routes/operator/limits.js';
import type { NodesJson, ProxiesJson } from '../../routes/operator/nodes.js';
import type {
  NewKeyInput,
  NewKeyJson,
  RevokedKeyJson,
  RotatedKeyJson,
  RotateKeyInput,
} from '../../routes/operator/operator-keys.js';
import type { WorkspacesJson } from '../../routes/operator/operator-workspaces.js';
import { AT, KEY, LATER, NEXT_KEY, NODE, PROXY, TOMORROW, WORKSPACE } from './values.js';

/** What operators see of the installation. */

export const workspaces: WorkspacesJson = {
  workspaces: [{ id: WORKSPACE, name: 'Acme', created_at: AT }],
  next_cursor: null,
};

export const limits: LimitsJson = {
  requests_per_second: { limit: 100, used: 12 },
  submissions_per_second: null,
  connections: { limit: 500, used: 37 },
  subscriptions: { limit: 100_000, used: 40 },
  stored_mib: { limit: 10_000, used: 812.4 },
};

const key: KeyJson = {
  id: KEY,
  name: 'backend',
  prefix: 'cs_live_a1b2',
  scopes: [...SCOPES],
  networks: ['192.0.2.0/24'],
  created_at: AT,
  last_used_at: LATER,
  last_used_from: '192.0.2.7',
  expires_at: TOMORROW,
  revoked_at: null,
  current: true,
};
export const keys: KeysJson = {
  keys: [key, { ...key, id: NEXT_KEY, expires_at: null, revoked_at: LATER, current: false }],
  next_cursor: null,
};
export const newKeyInput: NewKeyInput = {
  workspace_id: WORKSPACE,
  name: 'backend',
  scopes: [...SCOPES],
  networks: ['192.0.2.0/24'],
  expires_at: TOMORROW,
};
export const newKey: NewKeyJson = {
  id: KEY,
  key: 'cs_live_a-key-of-your-own',
  workspace_id: WORKSPACE,
  name: 'backend',
  scopes: [...SCOPES],
  networks: ['192.0.2.0/24'],
  expires_at: TOMORROW,
};
export const rotateKey: RotateKeyInput = { overlap_s: 3600 };
export const rotatedKey: RotatedKeyJson = {
  ...newKey,
  id: NEXT_KEY,
  previous_key_id: KEY,
  previous_valid_until: TOMORROW,
};
export const revokedKey: RevokedKeyJson = { id: KEY, revoked_at: LATER };

export const nodes: NodesJson = {
  nodes: [
    {
      id: NODE,
      state: 'alive',
      started_at: AT,
      heartbeat_at: LATER,
      partitions: [{ id: 7, epoch: 3, lease_ms: 6200 }],
      measures: {
        ...{ draining: false, threads: 3, thread_restarts: 0, mailboxes: 120, queued: 4, batch_items: 12.5 },
        ...{ browsers: 1, browser_restarts: 0, contexts: 6, pages: 4, runs_waiting: 0, database_ms: 0.5 },
      },
    },
  ],
  unowned_partitions: [8],
};
export const proxies: ProxiesJson = {
  proxies: [
    {
      id: PROXY,
      region: 'DE',
      url: 'http://proxy.example:8080',
      has_credentials: true,
      active: true,
      connections: 12,
      failing_since: null,
      created_at: AT,
    },
  ],
};
