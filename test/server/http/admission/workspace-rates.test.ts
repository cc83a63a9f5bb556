import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import { RateBucket } from '../../../../server/http/admission/rate-bucket.js';
import { takeOf, WorkspaceRates } from '../../../../server/http/admission/workspace-rates.js';
import { createLogger } from '../../../../storage/log/log.js';
import { type Database, openDatabase } from '../../../../storage/postgres/database.js';
import type { UsableKey } from '../../../../storage/workspaces/keys.js';
import { freshDatabase } from '../../../fixture/database.js';
import { eventually } from '../../../fixture/eventually.js';

const NO_LIMITS = {
  requests_per_second: null,
  submissions_per_second: null,
  connections: null,
  stored_mib: null,
  subscriptions: null,
};
const log = createLogger({ level: 'silent', format: 'json' }, {});

t.test('a bucket holds a second of its share, and begins with its part of one, once', async (t) => {
  const bucket = new RateBucket('w', 'requests_per_second', 100, 0.5, 0);
  const taken = (now: number, times: number) =>
    Array.from({ length: times }, () => bucket.take(now)).filter(Boolean).length;
  t.equal(taken(0, 200), 50, 'its part');
  t.equal(taken(400, 200), 0, 'and no more until its share is dealt');
  bucket.deal(0.2, 500);
  t.equal(taken(1_000, 200), 10, 'half a second of twenty');
  t.equal(taken(60_000, 200), 20, 'it fills up to one second');
  bucket.rescale(200, 60_000);
  t.equal(taken(61_000, 200), 40, 'twice the bound is twice the share');
  bucket.deal(0.001, 61_000);
  t.equal(taken(70_000, 200), 1, 'a small share still lets one request through');
  bucket.deal(0, 71_000);
  t.equal(taken(99_000, 200), 0, 'none lets none');
  t.ok(bucket.askedPerSecond(99_000) >= 200, 'what was refused was asked for as well');
  t.ok(bucket.askedPerSecond(109_000) < 0.1, 'and is forgotten');
});

const KEY: UsableKey = {
  ...{ kind: 'key', id: 'k', name: null, workspace_id: '', scopes: [], networks: null, expires_at: null, limits: null },
};

/** Rates of one node with this usual one of requests, and how one is asked for. */
async function ratesOf(t: Test, db: Database, perSecond: number | null) {
  const usual = { ...NO_LIMITS, requests_per_second: perSecond };
  const rates = new WorkspaceRates({ db, log, usual, lease_ms: 8_000 });
  await rates.start();
  t.teardown(() => rates.close());
  const take = (workspace_id: string): boolean => !takeOf(rates.count({ ...KEY, workspace_id }, false) ?? []);
  return { rates, take };
}

t.test('where no limit applies nothing is counted', async (t) => {
  const { db } = await freshDatabase(t);
  const { rates } = await ratesOf(t, db, null);
  t.equal(rates.count(KEY, true), undefined);
  t.equal(
    rates.count({ ...KEY, kind: 'operator', limits: { requests_per_second: 1 } }, true),
    undefined,
    'an operator',
  );
  t.equal(rates.count({ ...KEY, limits: { submissions_per_second: 1 } }, false), undefined, 'no submission');
  t.equal(rates.count({ ...KEY, workspace_id: randomUUID(), limits: { submissions_per_second: 1 } }, true)?.length, 1);
});

t.test(
  'two nodes that are asked for far more stay within the rate together, and another workspace is not touched',
  async (t) => {
    const { db } = await freshDatabase(t);
    for (const id of [randomUUID(), randomUUID()])
      await db.query('testNode', 'insert into node (id) values ($1)', [id]);
    const [workspace, calm] = [randomUUID(), randomUUID()];
    const nodes = await Promise.all([ratesOf(t, db, 200), ratesOf(t, db, 200)]);
    const shares = () =>
      db.query<{ sum: number }>(
        'testShares',
        'select sum(share)::float8 as sum from workspace_rate group by workspace_id',
      );
    let taken = 0;
    let dealt = 0;
    let refusedCalm = 0;
    const each = [0, 0];
    for (let turn = 0; turn < 400; turn++) {
      // First one node alone, then both, then the other: what changes costs most.
      const phase = Math.floor(turn / 60) % 3;
      for (const [i, { take }] of nodes.entries()) {
        if (phase === 1 || (phase === 0) === (i === 0))
          for (let n = 0; n < 20; n++)
            if (take(workspace)) {
              taken++;
              each[i]!++;
            }
      }
      if (!nodes[0]!.take(calm)) refusedCalm++;
      for (const { sum } of await shares()) dealt = Math.max(dealt, sum);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    t.comment(`${taken}, of them ${each}`);
    t.ok(dealt > 0 && dealt < 1.001, `their shares never came to more than the rate: ${dealt}`);
    t.ok(taken >= 200, 'and what it may is not refused');
    t.ok(
      each.every((count) => count > 0),
      'both nodes give',
    );
    t.equal(refusedCalm, 0);
  },
);

t.test('without the database requests are still counted', async (t) => {
  const { url } = await freshDatabase(t);
  const away = openDatabase({ url, maxConnections: 1, applicationName: 'test', onError: () => {} });
  const { take } = await ratesOf(t, away, 50);
  const workspace = randomUUID();
  const takeAll = () => Array.from({ length: 500 }, () => take(workspace)).filter(Boolean).length;
  t.ok(takeAll() <= 50);
  await away.close();
  let taken = 0;
  let most = 0;
  await eventually(
    'it gives on',
    async () => {
      const some = takeAll();
      most = Math.max(most, some);
      taken += some;
      return taken;
    },
    (sum) => sum >= 100,
  );
  t.ok(most <= 50, `${most} at once`);
});
