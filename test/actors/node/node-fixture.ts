import { randomBytes, randomUUID } from 'node:crypto';
import type { Test } from 'tap';
import { type Node, startNode } from '../../../actors/node/node.js';
import type { SubmitOutcome } from '../../../actors/system.js';
import { FaultyLink } from '../../../bench/scenarios/chaos/link.js';
import { socialSite } from '../../../browser-pool/social/site/stand-in.js';
import { createLogger } from '../../../storage/log/log.js';
import { openDatabase } from '../../../storage/postgres/database.js';
import { TIME_LIMITS } from '../../../storage/postgres/time-limits.js';

/** The nodes of an installation share these. */
const SHARED = { encryptionKeys: [{ id: 'test', key: randomBytes(32) }], fingerprintSecret: randomBytes(32) };

/** A whole node behind a link of its own to the database, and how to submit to it. It stops when the test ends. */
export async function linkedNode(t: Test, url: string, actorThreads: number, workspaceOperations = 500_000) {
  const link = await FaultyLink.open(Number(new URL(url).port));
  const pool = { url: link.through(url), applicationName: 'node', onError: () => {} };
  const edge = openDatabase({ ...pool, maxConnections: 4, limits: TIME_LIMITS.edge });
  const control = openDatabase({ ...pool, maxConnections: 3, limits: TIME_LIMITS.control });
  const logOptions = { level: 'silent', format: 'json' } as const;
  const node: Node = await startNode({
    db: edge,
    control,
    databaseUrl: link.through(url),
    ...SHARED,
    workspaceOperations,
    storedBound: null,
    actorThreads,
    browserThreads: 1,
    browser: { site: socialSite({ origin: 'https://www.social.test' }) },
    deliveries: { concurrency: 4, allowedNetworks: [], ca: undefined, dnsServers: null, workspacePercent: 50 },
    log: createLogger(logOptions, {}),
    logOptions,
  });
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped ??= node.stop();
    return stopped;
  };
  t.teardown(async () => {
    link.pass();
    await stop();
    await Promise.all([edge.close(), control.close()]);
    await link.close();
  });
  /** Submits a read of this profile. */
  const submit = (workspaceId: string, connectionId: string, profile: string): Promise<SubmitOutcome> =>
    node.submit({
      ...{ workspaceId, connectionId, capability: 'social.profile.get', input: { profile_id: profile } },
      idempotencyKey: randomUUID(),
    });
  /** The same; returns whether it was accepted. */
  const read = async (workspaceId: string, connectionId: string, profile: string): Promise<boolean> =>
    (await submit(workspaceId, connectionId, profile)).kind === 'created';
  return { node, link, stop, submit, read };
}
