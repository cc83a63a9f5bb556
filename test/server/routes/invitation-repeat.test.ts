import { randomBytes, randomUUID } from 'node:crypto';
import t from 'tap';
import { request } from 'undici';
import { startNode } from '../../../actors/node/node.js';
import { socialSite } from '../../../browser-pool/social/site/stand-in.js';
import { startEdge } from '../../../server/edge.js';
import { createLogger } from '../../../storage/log.js';
import { keyRing } from '../../../storage/secrets/encryption.js';
import { freshDatabase } from '../../fixture/database.js';
import { eventually } from '../../fixture/eventually.js';
import { insertSimulated, insertWorkspace } from '../../fixture/rows.js';
import { insertKey, subscriptionRules } from '../edge-fixture.js';

t.test('an invitation without a key whose answer was lost can be repeated: it is sent once', async (t) => {
  const { url, db } = await freshDatabase(t);
  const logOptions = { level: 'silent', format: 'json' } as const;
  const log = createLogger(logOptions, {});
  const encryptionKeys = [{ id: 'test', key: randomBytes(32) }];
  const node = await startNode({
    db,
    ...{ control: db },
    databaseUrl: url,
    encryptionKeys,
    fingerprintSecret: randomBytes(32),
    dataSealing: new SharedArrayBuffer(1),
    workspaceOperations: 500_000,
    actorThreads: 1,
    browserThreads: 1,
    browser: { site: socialSite({ origin: 'https://www.social.test' }) },
    deliveries: { concurrency: 4, allowedNetworks: [], ca: undefined, dnsServers: null, workspacePercent: 50 },
    log,
    logOptions,
  });
  t.teardown(() => node.stop());
  const edge = await startEdge({
    ...{ host: '127.0.0.1', port: 0, db, system: node, log },
    ring: keyRing(encryptionKeys),
    callbackPolicy: { allowedNetworks: [] },
    subscriptions: subscriptionRules(),
  });
  t.teardown(() => edge.close());
  const workspaceId = await insertWorkspace(db);
  const authorization = `Bearer ${await insertKey(db, workspaceId)}`;
  const connection = await insertSimulated(db, workspaceId, randomUUID());
  const invite = async (headers: Record<string, string> = {}) => {
    const reply = await request(`http://127.0.0.1:${edge.port}/v1/accounts/${connection.id}/linkedin/invite`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json', prefer: 'respond-async', ...headers },
      body: JSON.stringify({ hash_id: 'bob' }),
    });
    const body = (await reply.body.json()) as { error: { code: string; details: object }; data: object };
    return { status: reply.statusCode, headers: reply.headers, body };
  };
  const stored = () => db.query<{ id: string }>('stored', 'select id from operation');

  // Its statement waits for a table; then its thread dies, and the statement is committed with nobody to hear of it.
  const lost = await db.transaction(async (tx) => {
    await tx.query('hold', 'lock table idempotency_tombstone in access exclusive mode');
    const reply = invite();
    await eventually(
      'the submission waits for the lock',
      () =>
        db.query(
          'lockWaits',
          `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        ),
      (waits) => waits.length > 0,
    );
    node.crashThread(0);
    return { answer: await reply };
  });
  t.equal(lost.answer.status, 503);
  const key = String(lost.answer.headers['idempotency-key']);
  t.match(lost.answer.body, { error: { code: 'unavailable', details: { idempotency_key: key } } });
  const [operation] = await eventually('it was stored all the same', stored, (rows) => rows.length > 0);

  const repeated = await eventually(
    'the thread is back',
    () => invite({ 'idempotency-key': key }),
    ({ status }) => status !== 503,
  );
  t.equal(repeated.headers['x-operation-id'], operation?.id);
  t.match(repeated.body, { data: {} });
  t.equal((await stored()).length, 1);
});
