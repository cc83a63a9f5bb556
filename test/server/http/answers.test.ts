import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import t from 'tap';
import { LIMITS } from '../../../server/http/limits.js';
import { createLogger } from '../../../storage/log/log.js';
import { eventually } from '../../fixture/eventually.js';
import { insertSimulated, insertWorkspace } from '../../fixture/rows.js';
import { type EdgeUnderTest, insertKey, startTestEdge } from '../edge-fixture.js';
import { insertConnections, insertOperations } from '../rows.js';

/** Asks for a path and reads nothing of the answer but its beginning. */
async function askAndStall(edge: EdgeUnderTest, path: string): Promise<{ socket: Socket; status: string }> {
  const socket = connect(edge.edge.port, '127.0.0.1');
  socket.on('error', () => {});
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${edge.key}\r\n\r\n`);
  const [chunk] = (await once(socket, 'data')) as [Buffer];
  socket.pause();
  return { socket, status: chunk.toString('latin1', 9, 12) };
}

t.test('answers that a workspace reads slowly take bounded memory', async (t) => {
  const edge = await startTestEdge(t);
  const { id } = await insertSimulated(edge.db, edge.workspaceId, 'ann');
  await insertOperations(edge.db, id, 100);
  await edge.db.query('testResults', `update operation set result = jsonb_build_object('text', repeat('x', 100000))`);
  const stalled: { socket: Socket; status: string }[] = [];
  for (let n = 0; n < 12; n++) stalled.push(await askAndStall(edge, '/v1/operations'));
  t.teardown(() => stalled.forEach(({ socket }) => void socket.destroy()));
  const sent = stalled.filter(({ status }) => status === '200').length;
  const page_bytes = 10_000_000;
  t.ok(sent >= 3 && sent * page_bytes <= LIMITS.workspace_answer_bytes + 4 * page_bytes, `${sent} answers of 10 MB`);
  t.equal(stalled.filter(({ status }) => status === '503').length, 12 - sent);
  t.equal((await edge.call('GET', '/v1/operations?limit=1')).status, 200, 'small answers go on');
  const neighbour = await insertKey(edge.db, await insertWorkspace(edge.db));
  t.equal((await edge.call('GET', '/v1/connections', { key: neighbour })).status, 200);
  for (const { socket } of stalled) socket.destroy();
  await eventually(
    'there is room again',
    () => edge.call('GET', '/v1/operations'),
    ({ status }) => status === 200,
  );
});

t.test('a list whose next part cannot be read is cut, and its client knows', async (t) => {
  const edge = await startTestEdge(t);
  await insertConnections(edge.db, edge.workspaceId, 5 * LIMITS.list_slice_rows);
  const { query } = edge.db;
  t.teardown(() => {
    edge.db.query = query;
  });
  let slices = 0;
  edge.db.query = (name, text, values) =>
    name === 'listConnections' && ++slices === 3 ? Promise.reject(new Error('gone')) : query(name, text, values);
  await t.rejects(edge.call('GET', '/v1/connections'), /terminated|closed|aborted/);
  t.equal((await edge.call('GET', '/v1/connections')).json.connections.length, 5 * LIMITS.list_slice_rows);
});

t.test('a client that goes away while a part of its list is read is no failure', async (t) => {
  const failures: unknown[] = [];
  const silent = createLogger({ level: 'silent', format: 'json' }, {});
  const log = Object.create(silent, { error: { value: (...line: unknown[]) => failures.push(line) } });
  const edge = await startTestEdge(t, { log });
  await insertConnections(edge.db, edge.workspaceId, 3 * LIMITS.list_slice_rows);
  const { query } = edge.db;
  t.teardown(() => {
    edge.db.query = query;
  });
  const reading = Promise.withResolvers<void>();
  const gone = Promise.withResolvers<void>();
  let slices = 0;
  edge.db.query = async (name, text, values) => {
    if (name === 'listConnections' && ++slices === 2) {
      reading.resolve();
      await gone.promise;
    }
    return query(name, text, values);
  };
  const { socket } = await askAndStall(edge, '/v1/connections');
  socket.resume();
  await reading.promise;
  socket.destroy();
  // The edge has heard of it when it answers what came after it.
  for (let n = 0; n < 3; n++) await edge.call('GET', '/healthz', { key: '' });
  gone.resolve();
  await edge.edge.drain();
  t.strictSame(failures, []);
});
