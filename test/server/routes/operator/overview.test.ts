import { randomUUID } from 'node:crypto';
import t from 'tap';
import { IDLE } from '../../../../bench/scenarios/consoles/hour.js';
import { LIMITS } from '../../../../storage/limits.js';
import { firstIdAt } from '../../../../storage/model/id-time.js';
import { type NodeStep, readSteps, storeStep } from '../../../../storage/overview/steps.js';
import { Tally, together } from '../../../../storage/overview/tally.js';
import { bucketOf, noTimes, quantile_ms } from '../../../../storage/overview/took.js';
import { createOperator } from '../../../../storage/workspaces/operators.js';
import { insertWorkspace } from '../../../fixture/rows.js';
import { startTestEdge } from '../../edge-fixture.js';

const STEP_ms = LIMITS.overview_step_ms;
const ago = (steps: number) => new Date((Math.floor(Date.now() / STEP_ms) - steps) * STEP_ms);

/** A step in which each workspace had one operation accepted and one that succeeded after `took_ms`. */
function stepOf(workspaces: string[], step: Date, nodeId: string, took_ms = 100): NodeStep {
  const tally = new Tally();
  for (const workspace_id of workspaces) {
    tally.count(workspace_id, 'accepted');
    tally.count(workspace_id, 'delivered');
    tally.ended({
      ...{ id: firstIdAt(Date.now() - took_ms), workspace_id, connection_id: '', capability: '', status: 'succeeded' },
      ...{ error_code: null, attempts: 1, request_id: null, traceparent: null },
    });
  }
  const counted = tally.take();
  const measures = { ...IDLE, queued: 2, oldest_queued_s: 1.5, database_ms: 0.5, pages: 4 };
  return { nodeId, step, workspaces: counted, together: together(counted), measures };
}

/** Of the last step in which something was. */
const last = (json: Record<string, unknown>, field: string) => (json[field] as unknown[]).findLast(Boolean);

t.test('the last hour adds up over nodes, and what is stored again changes nothing', async (t) => {
  const edge = await startTestEdge(t);
  const { db, workspaceId } = edge;
  const stranger = await insertWorkspace(db);
  const [one, other] = [randomUUID(), randomUUID()];
  const step = stepOf([workspaceId, stranger], ago(2), one);
  for (let n = 0; n < 3; n++) await storeStep(db, step);
  await storeStep(db, stepOf([workspaceId], ago(2), other, 900));
  await storeStep(db, stepOf([workspaceId], ago(LIMITS.overview_ms / STEP_ms + 3), other));
  const { json } = await edge.call('GET', '/v1/overview');
  for (const field of ['accepted', 'succeeded', 'delivered']) {
    const counts = json[field] as number[];
    t.equal(counts.length, LIMITS.overview_ms / STEP_ms, field);
    t.equal(
      counts.reduce((sum, count) => sum + count, 0),
      2,
      field,
    );
  }
  t.ok(Number(last(json, 'p50_ms')) >= 50 && Number(last(json, 'p50_ms')) <= 200, String(last(json, 'p50_ms')));
  t.ok(Number(last(json, 'p99_ms')) >= 500 && Number(last(json, 'p99_ms')) <= 1000, String(last(json, 'p99_ms')));
  t.equal((json.p50_ms as unknown[])[0], null);
  t.notOk('queued' in json, 'what belongs to no workspace is for operators');

  const { key } = await createOperator(db, 'Grace', null);
  const all = (await edge.call('GET', '/v1/operator/overview', { key })).json;
  t.strictSame(
    ['accepted', 'queued', 'oldest_queued_s', 'database_ms', 'threads', 'pages'].map((field) => last(all, field)),
    [3, 4, 1.5, 0.5, 6, 8],
  );
  t.equal((all.queued as unknown[])[0], null);
  t.equal((await edge.call('GET', '/v1/operator/overview')).status, 403);
});

t.test('a step deletes what is older than an hour, and nothing else', async (t) => {
  const { db, workspaceId } = await startTestEdge(t);
  const nodeId = randomUUID();
  const steps = LIMITS.overview_ms / STEP_ms;
  for (const back of [steps + 4, steps - 2, 0]) await storeStep(db, stepOf([workspaceId], ago(back), nodeId));
  await storeStep(db, stepOf([workspaceId], ago(0), nodeId));
  t.equal((await readSteps(db, workspaceId, new Date(0))).length, 2);
  t.equal((await readSteps(db, null, new Date(0))).length, 2);
});

t.test('two nodes store, and delete what is old, at the same time', async (t) => {
  const { db, workspaceId } = await startTestEdge(t);
  const nodes = Array.from({ length: 4 }, () => randomUUID());
  for (let back = 400; back >= 0; back -= 40)
    await Promise.all(nodes.map((nodeId) => storeStep(db, stepOf([workspaceId], ago(back), nodeId))));
  const rows = await readSteps(db, workspaceId, new Date(0));
  t.equal(rows.length, 10 * nodes.length, 'all but those of the first step, which is older');
});

t.test('what a step of a hundred workspaces costs', async (t) => {
  const { db } = await startTestEdge(t);
  const workspaces = Array.from({ length: 100 }, () => randomUUID());
  const nodeId = randomUUID();
  for (let back = 380; back > 0; back--) await storeStep(db, stepOf(workspaces, ago(back), nodeId));
  await db.query('testAnalyze', 'analyze overview_step');
  let plan = '';
  const explaining = {
    ...db,
    query: async <Row extends object>(name: string, text: string, values: unknown[] = []): Promise<Row[]> => {
      const rows = await db.query<{ 'QUERY PLAN': string }>(
        `explain ${name}`,
        `explain (analyze, buffers) ${text}`,
        values,
      );
      plan = rows.map((row) => row['QUERY PLAN']).join('\n');
      return [];
    },
  };
  await storeStep(explaining, stepOf(workspaces, ago(0), nodeId));
  t.comment(plan);
  t.notMatch(plan, /Seq Scan on overview_step/);
  await readSteps(explaining, workspaces[0] ?? '', ago(360));
  t.comment(plan);
  t.notMatch(plan, /Seq Scan on overview_step/);
});

t.test('a quantile is as exact as the buckets', (t) => {
  const counts = noTimes();
  t.equal(quantile_ms(counts, 0.5), null);
  counts[bucketOf(150)] = 100;
  t.equal(quantile_ms(counts, 0.5), 150);
  counts[bucketOf(1e9)] = 2;
  t.equal(quantile_ms(counts, 0.99), 43_200_000, 'what took longer than all of them');
  t.end();
});
