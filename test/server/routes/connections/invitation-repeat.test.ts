import { randomBytes, randomUUID } from 'node:crypto';
import t from 'tap';
import { request } from 'undici';
import { startNode } from '../../../../actors/node/node.js';
import { socialSite } from '../../../../browser-pool/social/site/stand-in.js';
import { startEdge } from '../../../../server/edge.js';
import { createLogger } from '../../../../storage/log/log.js';
import { keyRing } from '../../../../storage/secrets/encryption.js';
import { freshDatabase } from '../../../fixture/database.js';
import { eventually } from '../../../fixture/eventually.js';
import { linkTo } from '../../../fixture/link.js';
import { insertSimulated, insertWorkspace } from '../../../fixture/rows.js';
import { insertKey, subscriptionRules } from '../../edge-fixture.js';

t.test('an invitation without a key whose answer was lost can be repeated: it is sent once', async (t) => {
  const { url: direct, db } = await freshDatabase(t);
  const { link, url } = await linkTo(t, direct);
  const logOptions = { level: 'silent', format: 'json' } as const;
  const log = createLogger(logOptions, {});
  const encryptionKeys = [{ id: 'test', key: randomBytes(32) }];
  const node = await startNode({
    db,
    ...{ control: db },
    databaseUrl: url,
    encryptionKeys,
    fingerprintSecret: randomBytes(32),
    workspaceOperations: 500_000,
    storedBound: null,
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

  // Its statement is held until the link is deaf: it is stored, and nobody hears of it. Then its thread dies.
  await db.query('held', 'create table held as select 1 as one');
  await db.query(
    'hold',
    `create function hold() returns trigger language plpgsql as $$ begin
       while exists (select from held) loop perform pg_sleep(0.005); end loop;
       return null;
     end $$`,
  );
  await db.query('holds', 'create trigger hold before insert on operation execute function hold()');
  const reply = invite();
  await eventually(
    'its statement is held',
    () =>
      db.query('waits', `select from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`),
    (waits) => waits.length > 0,
  );
  link.deaf();
  await db.query('release', 'delete from held');
  const [operation] = await eventually('it is stored', stored, (rows) => rows.length > 0);
  node.crashThread(0);
  const lost = await reply;
  link.pass();
  t.equal(lost.status, 503);
  const key = String(lost.headers['idempotency-key']);
  t.match(lost.body, { error: { code: 'unavailable', details: { idempotency_key: key } } });

  const repeated = await eventually(
    'the thread is back',
    () => invite({ 'idempotency-key': key }),
    ({ status }) => status !== 503,
  );
  t.equal(repeated.headers['x-operation-id'], operation?.id);
  t.match(repeated.body, { data: {} });
  t.equal((await stored()).length, 1);
});
