import { once } from 'node:events';
import { connect } from 'node:net';
import t from 'tap';
import { RequestScheduler } from '../../../../server/http/admission/request-scheduler.js';
import { WorkspaceRequests } from '../../../../server/http/admission/workspace-requests.js';
import { LIMITS } from '../../../../server/http/limits.js';
import { freshDatabase } from '../../../fixture/database.js';
import { eventually } from '../../../fixture/eventually.js';
import { insertSimulated, insertWorkspace } from '../../../fixture/rows.js';
import { insertKey, startTestEdge } from '../../edge-fixture.js';

t.test('answers that are read slowly hold up no other request of their workspace, beside a neighbour', async (t) => {
  const { db } = await freshDatabase(t);
  const pace = new RequestScheduler();
  const requests = new WorkspaceRequests({ bound: 1_000, db, load: { begun() {}, ended() {} }, pace });
  const of = (workspace_id: string) => ({ id: workspace_id, workspace_id, scopes: [] });
  const beside = await pace.turn('neighbour', { name: 'poll', bytes: 0 });
  for (let n = 0; n < 20; n++) {
    await new Promise((resolve) => setTimeout(resolve, 10)); // time that the neighbour is at work
    pace.sample(0, 10);
  }
  t.ok(pace.isAtWork, 'there is a neighbour');
  const read = Promise.withResolvers<void>();
  const sent: Promise<void>[] = [];
  for (let n = 0; n < 5 * LIMITS.pace_most; n++) {
    const begun = Promise.withResolvers<void>();
    const send = () => {
      begun.resolve();
      return read.promise;
    };
    sent.push(requests.run(of('slow'), { name: 'list', bytes: 0 }, ({ sending }) => sending(10, send)));
    await begun.promise;
  }
  t.equal(await requests.run(of('slow'), { name: 'list', bytes: 0 }, async () => 'at once'), 'at once');
  beside.end();
  read.resolve();
  await Promise.all(sent);
});

t.test('to make a piece of an answer is work, to wait for its client is none', async (t) => {
  const { db } = await freshDatabase(t);
  const pace = new RequestScheduler();
  const requests = new WorkspaceRequests({ bound: 1_000, db, load: { begun() {}, ended() {} }, pace });
  const beside = await pace.turn('neighbour', { name: 'poll', bytes: 0 });
  const samples = async () => {
    for (let n = 0; n < 20; n++) {
      await new Promise((resolve) => setTimeout(resolve, 10));
      pace.sample(0, 10);
    }
  };
  await samples();
  const making = Promise.withResolvers<void>();
  let begun = 0;
  let over = 0;
  async function* pieces() {
    try {
      begun++;
      await making.promise;
      yield Buffer.from('piece');
    } finally {
      over++;
    }
  }
  const lists = 2 * LIMITS.pace_most;
  const sent = Array.from({ length: lists }, () =>
    requests.run({ id: 'key', workspace_id: 'greedy' }, { name: 'list', bytes: 0 }, ({ sending, made }) =>
      sending(0, async () => {
        for await (const piece of made({ bytes: null, pieces }).pieces()) return void piece; // the client went away
      }),
    ),
  );
  await samples();
  t.ok(begun > 0 && begun <= LIMITS.pace_most, `${begun} of ${lists} are being made`);
  making.resolve();
  for (let n = 0; over < lists && n < 100; n++) await samples();
  await Promise.all(sent);
  t.equal(over, lists, 'all that were begun were ended');
  beside.end();
});

t.test('a request whose client goes away while it waits for its turn does nothing', async (t) => {
  const edge = await startTestEdge(t);
  const { id } = await insertSimulated(edge.db, edge.workspaceId, 'ann');
  const neighbour = await insertKey(edge.db, await insertWorkspace(edge.db));
  const ask = () => edge.call('GET', '/v1/connections', { key: neighbour });
  const stored = edge.system.submit.bind(edge.system);
  const held = Promise.withResolvers<void>();
  const begun: string[] = [];
  edge.system.submit = async (submission) => {
    begun.push(submission.idempotencyKey);
    await held.promise;
    return stored(submission);
  };
  const path = `/v1/connections/${id}/operations`;
  const body = { capability: 'social.identity.get', input: {} };
  const submit = (key: string) => edge.call('POST', path, { body, headers: { 'idempotency-key': key } });
  await ask();
  const atWork = Array.from({ length: LIMITS.pace_most }, (_, n) => submit(`at work ${n}`));
  await eventually('all it may have are at work', ask, () => begun.length === LIMITS.pace_most);

  const gone = connect(edge.edge.port, '127.0.0.1');
  await once(gone, 'connect');
  const json = JSON.stringify(body);
  const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${edge.key}\r\nIdempotency-Key: gone\r\n`;
  gone.write(`${head}Content-Length: ${json.length}\r\n\r\n${json}`);
  await ask();
  gone.resetAndDestroy();
  await ask();
  held.resolve();
  for (const one of atWork) t.equal((await one).status, 202);
  t.equal((await submit('after it')).status, 202);
  t.strictSame(begun.slice(LIMITS.pace_most), ['after it']);
});
