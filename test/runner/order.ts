/** The test files that take longest, by name: they are started first, so that none of them is what the run waits for at its end. */
export const LONGEST: readonly string[] = [
  'story/database-outage',
  'story/look',
  'server/routes/lists',
  'server/admin/admin',
  'story/faults',
  'browser-pool/pool',
  'server/console/operation-page',
  'server/console/connections-page',
  'fuzz/http',
  'story/two-nodes',
  'server/console/subscriptions-page',
  'server/admin/erase',
  'story/files',
  'story/durability',
  'storage/erasure/person',
  'story/webhooks',
  'story/stalled-link',
  'actors/operations/finish-large',
  'bench/chaos',
  'actors/operations/lost-answers',
  'server/console/reconnect-page',
  'actors/supervision',
  'server/http/smuggling',
  'story/databases',
  'conformance/audit',
  'server/start/compile',
  'story/node-end',
];

/** The test files that have a process of their own, each for a reason. */
export const ALONE: ReadonlyMap<string, string> = new Map();
