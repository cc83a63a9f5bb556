import { OPERATOR } from '../../../storage/model/records.js';
import type { Row } from '../table.js';

/** Rows of what spans workspaces. They run in order. */

const OVERVIEW = [
  ...['from', 'step_s', 'accepted', 'succeeded', 'failed', 'canceled', 'unknown', 'delivered', 'undelivered'],
  ...['p50_ms', 'p99_ms'],
];

export const operators: Row[] = [
  {
    title: 'Operators, workspaces: oldest first',
    send: 'GET /v1/operator/workspaces',
    scopes: OPERATOR,
    status: 200,
    fields: ['workspaces'],
  },
  {
    title: 'Operators, workspaces: a page',
    send: 'GET /v1/operator/workspaces?limit=1',
    scopes: OPERATOR,
    status: 200,
    fields: ['workspaces', 'next_cursor'],
  },
  {
    title: 'Keys, list: oldest first, never their text',
    send: 'GET /v1/keys?limit=1',
    status: 200,
    fields: ['keys', 'next_cursor'],
  },
  {
    title: 'Limits: what applies by the settings, with what is used',
    send: 'GET /v1/limits',
    scopes: ['events:read'],
    status: 200,
    fields: ['requests_per_second', 'submissions_per_second', 'connections', 'subscriptions', 'stored_mib'],
    like: {
      requests_per_second: null,
      submissions_per_second: null,
      connections: null,
      subscriptions: { limit: 100_000 },
      stored_mib: null,
    },
    carries: { ratelimit: undefined, 'ratelimit-policy': undefined },
  },
  {
    title: 'Operators, make a key: 201, shown once',
    send: 'POST /v1/operator/keys',
    scopes: OPERATOR,
    body: { workspace_id: '{workspace}', scopes: ['events:read'] },
    status: 201,
    fields: ['id', 'key', 'workspace_id', 'name', 'scopes', 'networks', 'expires_at'],
    like: { name: null, scopes: ['events:read'], expires_at: null },
    keep: { key: 'id' },
  },
  {
    title: 'Operators, rotate a key: 201 its successor',
    send: 'POST /v1/operator/keys/{key}/rotate',
    scopes: OPERATOR,
    body: { overlap_s: 60 },
    status: 201,
    fields: [
      'id',
      'key',
      'workspace_id',
      'name',
      'scopes',
      'networks',
      'expires_at',
      'previous_key_id',
      'previous_valid_until',
    ],
    like: { previous_key_id: '{key}' },
  },
  {
    title: 'Operators, revoke a key: 200',
    send: 'POST /v1/operator/keys/{key}/revoke',
    scopes: OPERATOR,
    status: 200,
    fields: ['id', 'revoked_at'],
  },
  {
    title: 'Operators, nodes: what each owns, and what nobody owns',
    send: 'GET /v1/operator/nodes',
    scopes: OPERATOR,
    status: 200,
    fields: ['nodes', 'unowned_partitions'],
    like: { nodes: [{ state: 'alive' }], unowned_partitions: [] },
  },
  {
    title: 'Attention: what needs somebody',
    send: 'GET /v1/attention',
    status: 200,
    fields: ['attention'],
  },
  {
    title: 'Attention: what needs an operator',
    send: 'GET /v1/operator/attention',
    scopes: OPERATOR,
    status: 200,
    fields: ['attention'],
  },
  {
    title: 'Overview: the last hour',
    send: 'GET /v1/overview',
    status: 200,
    fields: OVERVIEW,
    like: { step_s: 10 },
  },
  {
    title: 'Overview: the last hour of the installation',
    send: 'GET /v1/operator/overview',
    scopes: OPERATOR,
    status: 200,
    fields: [...OVERVIEW, 'queued', 'oldest_queued_s', 'database_ms', 'threads', 'pages', 'runs_waiting'],
  },
  {
    title: 'Operators, proxies: without credentials',
    send: 'GET /v1/operator/proxies',
    scopes: OPERATOR,
    status: 200,
    fields: ['proxies'],
  },
];
