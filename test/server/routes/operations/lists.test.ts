import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import t from 'tap';
import { isMade } from '../../../../server/http/answer.js';
import { LIMITS } from '../../../../server/http/limits.js';
import { operationsAnswer } from '../../../../server/routes/operations/operation-answer.js';
import {
  listFilteredConnections,
  NAMES_START,
  searchConnections,
} from '../../../../storage/connections/filtered-connections.js';
import type { Health, Provider } from '../../../../storage/model/records.js';
import { listOperations } from '../../../../storage/operations/operations.js';
import type { Sql } from '../../../../storage/postgres/database.js';
import { LIST_START } from '../../../../storage/postgres/list-place.js';
import { countingBlocks } from '../../../fixture/blocks-read.js';
import { freshDatabase } from '../../../fixture/database.js';
import { insertSimulated, insertSocial, insertWorkspace } from '../../../fixture/rows.js';
import { rowsRead } from '../../../fixture/rows-read.js';
import { longTest, sized } from '../../../fixture/size.js';
import { type EdgeUnderTest, type Fields, startTestEdge } from '../../edge-fixture.js';
import { insertConnections, insertOperations, putOperation } from '../../rows.js';

/** Of a workspace that has many. */
const CONNECTIONS = sized(10_000, 100_000);

const idsOf = (rows: Fields[]) => rows.map(({ id }) => id);

/** The ids of all pages, in order. Each page but the last is full, and the last one has a row, unless there is none at all. */
async function pages(edge: EdgeUnderTest, path: string, field: 'connections' | 'subscriptions', limit: number) {
  const ids: string[] = [];
  let cursor: string | null = null;
  do {
    const asked = `${path}${path.includes('?') ? '&' : '?'}limit=${limit}${cursor === null ? '' : `&cursor=${cursor}`}`;
    const { json } = await edge.call('GET', asked);
    const page = idsOf(json[field]);
    if (page.length > limit) throw new Error(`a page of ${page.length}`);
    if (page.length === 0 && ids.length > 0) throw new Error('an empty page behind the last row');
    if (page.length < limit && json.next_cursor !== null) throw new Error(`a page of ${page.length} that goes on`);
    ids.push(...page);
    cursor = json.next_cursor;
  } while (cursor !== null);
  return ids;
}

/** Ids in order of creation, as the database has them. */
async function stored(db: Sql, table: 'connection' | 'subscription'): Promise<string[]> {
  const rows = await db.query<{ id: string }>(`testIds.${table}`, `select id from ${table} order by created_at, id`);
  return rows.map(({ id }) => id);
}

async function insertSubscriptions(db: Sql, connectionId: string, count: number): Promise<void> {
  await db.query(
    'testSubscriptions',
    `insert into subscription (id, workspace_id, connection_id, partition, event_types, callback_url, active, secret_sealed)
     select gen_random_uuid(), c.workspace_id, c.id, c.partition, '{message_received}', 'https://receiver.test/', true, ''
     from connection c, generate_series(1, $2::int) where c.id = $1`,
    [connectionId, count],
  );
}

t.test('connections and subscriptions are listed page by page, each once and in order', async (t) => {
  const edge = await startTestEdge(t);
  const { db, workspaceId } = edge;
  const { id } = await insertSimulated(db, workspaceId, 'ann');
  await insertConnections(db, workspaceId, 30); // of one time, to the microsecond
  for (let n = 0; n < 4; n++) await insertSimulated(db, workspaceId, `later-${n}`);
  const connections = await stored(db, 'connection');
  await insertSubscriptions(db, id, 12);
  await insertSubscriptions(db, id, 1);
  const subscriptions = await stored(db, 'subscription');
  for (const limit of [1, 7, 35, 100]) {
    t.strictSame(await pages(edge, '/v1/connections', 'connections', limit), connections, `${limit}`);
    t.strictSame(
      await pages(edge, `/v1/connections/${id}/subscriptions`, 'subscriptions', limit),
      subscriptions,
      `${limit}`,
    );
  }
  const whole = await edge.call('GET', '/v1/connections');
  t.strictSame(Object.keys(whole.json), ['connections'], 'without either it is the whole list, as specified');
  t.strictSame(idsOf(whole.json.connections), connections);
  const of = await edge.call('GET', `/v1/connections/${id}/subscriptions`);
  t.strictSame(Object.keys(of.json), ['subscriptions']);
  t.strictSame(idsOf(of.json.subscriptions), subscriptions);
  const { json } = await edge.call('GET', '/v1/connections?limit=2');
  const cursor = String(json.next_cursor);
  await db.query('testDelete', 'delete from connection where id = $1', [connections[1]]);
  t.strictSame(
    idsOf((await edge.call('GET', `/v1/connections?limit=2&cursor=${cursor}`)).json.connections),
    connections.slice(2, 4),
    'though the row the page ended with is gone',
  );
  t.strictSame((await edge.call('GET', `/v1/connections?cursor=${cursor}`)).json.connections.length, 33);
  for (const query of ['limit=0', 'limit=101', 'cursor=x', 'cursor=', `cursor=${cursor}x`, 'offset=1']) {
    for (const path of ['/v1/connections', `/v1/connections/${id}/subscriptions`]) {
      t.equal((await edge.call('GET', `${path}?${query}`)).status, 400, query);
    }
  }
});

t.test('a whole list holds each row once while others come and go', async (t) => {
  const edge = await startTestEdge(t);
  const { db, workspaceId } = edge;
  await insertConnections(db, workspaceId, 5 * LIMITS.list_slice_rows);
  const kept = await stored(db, 'connection');
  let changing = true;
  const changes = (async () => {
    for (let n = 0; changing; n++) {
      const { id } = await insertSimulated(db, workspaceId, `new-${n}`);
      if (n % 2 === 0) await db.query('testDelete', 'delete from connection where id = $1', [id]);
    }
  })();
  for (let n = 0; n < 5; n++) {
    const { json, headers } = await edge.call('GET', '/v1/connections');
    const ids = idsOf(json.connections);
    t.strictSame(ids.slice(0, kept.length), kept);
    t.equal(new Set(ids).size, ids.length);
    t.equal(headers['content-type'], 'application/json; charset=utf-8');
  }
  changing = false;
  await changes;
});

longTest(t, 'a page of a filtered list costs the same however many operations there are', async (t) => {
  const { db } = await freshDatabase(t);
  const cost = async (operations: number) => {
    const workspaceId = await insertWorkspace(db);
    const { id: connectionId } = await insertSimulated(db, workspaceId, 'ann');
    await insertOperations(db, connectionId, operations);
    await db.query('analyze', 'analyze operation');
    const sql = countingBlocks(db);
    const blocks = [];
    for (const filter of [
      { connectionId: null, status: 'failed' },
      { connectionId: null, status: null, capability: 'social.login' },
      { connectionId, status: 'failed' },
      { connectionId: null, status: null },
      { connectionId, status: null },
    ] as const) {
      const found = await listOperations(sql, {
        ...{
          workspaceId,
          capability: null,
          before: null,
          limit: 101,
          look: LIMITS.looked_at_operations,
          results: true,
        },
        ...filter,
      });
      const rare = filter.status !== null || 'capability' in filter;
      if (!rare) t.equal(found.operations.length, 101);
      else t.strictSame(found.operations, []);
      t.equal(found.lookedTo !== null, rare && operations >= LIMITS.looked_at_operations);
      blocks.push(sql.blocks);
    }
    return blocks;
  };
  const few = await cost(2_000);
  const many = await cost(sized(10_000, 60_000));
  t.comment(`${few} and ${many} blocks`);
  for (const [i, blocks] of many.entries()) {
    t.ok(blocks < few[i]! * 2 + 500, `${few[i]} and ${blocks} blocks`);
    t.ok(blocks < 4 * LIMITS.looked_at_operations, `${blocks} blocks`);
  }
});

t.test(
  'the operation that waits for its user is found behind however many others, and so are those of a workspace',
  async (t) => {
    const edge = await startTestEdge(t);
    const { db, workspaceId } = edge;
    const waiting: string[] = [];
    for (const name of ['ann', 'bob', 'cat']) {
      const { id: connectionId } = await insertSimulated(db, workspaceId, name);
      await insertOperations(db, connectionId, 2 * LIMITS.looked_at_operations);
      const [first] = await db.query<{ id: string }>(
        'testFirst',
        'select id from operation where connection_id = $1 order by id limit 1',
        [connectionId],
      );
      await putOperation(db, first!.id, 'waiting_user');
      waiting.unshift(first!.id);
      const found = await edge.call('GET', `/v1/operations?connection_id=${connectionId}&status=waiting_user&limit=1`);
      t.strictSame(idsOf(found.json.operations), [first!.id]);
      t.equal(found.json.next_cursor, null);
    }
    const listed = (query: string) => edge.call('GET', `/v1/operations?status=waiting_user${query}`);
    t.strictSame(idsOf((await listed('')).json.operations), waiting);
    const { json } = await listed('&limit=2');
    t.strictSame(idsOf(json.operations), waiting.slice(0, 2));
    t.strictSame(idsOf((await listed(`&limit=2&cursor=${json.next_cursor}`)).json.operations), waiting.slice(2));
    t.strictSame((await listed('&capability=social.login')).json.operations, []);
    await putOperation(db, waiting[0]!, 'canceled');
    t.strictSame(idsOf((await listed('')).json.operations), waiting.slice(1));
  },
);

t.test('a list without results reads neither results nor files, and is small', async (t) => {
  const edge = await startTestEdge(t);
  const { db, workspaceId } = edge;
  const { id: connectionId } = await insertSimulated(db, workspaceId, 'ann');
  await insertOperations(db, connectionId, 25);
  const large = Array.from({ length: 25_000 }, () => randomUUID()).join('');
  await db.query(
    'testLarge',
    `update operation set result = case when id = newest then '{"size": 300000}' else jsonb_build_object('text', $2::text) end,
       capability = case when id = newest then 'social.file.download' else capability end, attempts = jsonb_build_array(jsonb_build_object('id', id))
     from (select id as newest from operation where connection_id = $1 order by id desc limit 1) f where connection_id = $1`,
    [connectionId, large],
  );
  await db.query(
    'testFile',
    `insert into operation_file (operation_id, attempt_id, part, bytes)
     select id, id, 0, $1 from operation where capability = 'social.file.download'`,
    [randomBytes(300_000)],
  );
  const read = (results: boolean) =>
    db.transaction(async (tx) => {
      const sql = countingBlocks(tx);
      const filter = { workspaceId, connectionId: null, status: null, capability: null, before: null };
      const file = await rowsRead(tx, 'operation_file', async () => {
        const { operations } = await listOperations(sql, { ...filter, limit: 101, look: 1_000, results });
        const { body } = operationsAnswer(tx, operations, null);
        let bytes = 0;
        if (isMade(body)) for await (const piece of body.pieces()) bytes += piece.length;
        else bytes = body?.length ?? 0;
        return bytes;
      });
      return { files: file.found + file.scanned, bytes: file.given, blocks: sql.blocks };
    });
  const whole = await read(true);
  t.ok(whole.files > 0 && whole.bytes > 20_000_000 && whole.blocks > 2_000, JSON.stringify(whole));
  const small = await read(false);
  t.equal(small.files, 0);
  t.ok(small.bytes < 25 * 1_000, `${small.bytes} bytes`);
  t.ok(small.blocks < 200, `${small.blocks} blocks`);
  const { status, json } = await edge.call('GET', '/v1/operations?results=false');
  t.match([status, json.operations[24]], [200, { status: 'succeeded', result: null }]);
  await putOperation(db, String(json.operations[0]?.id), 'skipped', { reason: 'already_connected', state_revision: 1 });
  const skipped = await edge.call('GET', '/v1/operations?results=false&limit=1');
  t.match(skipped.json.operations, [{ result: { reason: 'already_connected' } }], 'why nothing was done is told');
});

t.test('connections are filtered by health and provider, and looked for by name', async (t) => {
  const edge = await startTestEdge(t);
  const { db, workspaceId } = edge;
  const names = ['Ann@x.test', 'anna@x.test', 'Änne', 'an_n', 'Bob%'];
  const ids = new Map<string, string>();
  for (const username of names) {
    const body = { provider: 'social', username, password: 'sandbox', region: 'us' };
    const { json } = await edge.call('POST', '/v1/connections', { body });
    ids.set(username, json.id);
  }
  await db.query(
    'testReady',
    `update connection set health = 'ready', session_sealed = '' where provider = 'social'`,
    [],
  );
  ids.set('ANNOUNCER', (await insertSimulated(db, workspaceId, 'ANNOUNCER')).id);
  const long = 'annex'.repeat(40);
  for (const end of ['a', 'b', 'c']) ids.set(long + end, (await insertSimulated(db, workspaceId, long + end)).id);
  await db.query('testHealth', `update connection set health = 'invalid' where username = 'anna@x.test'`, []);
  const found = async (query: string) => {
    const listed = await pages(edge, `/v1/connections?${query}`, 'connections', 2);
    return listed.map((id) => [...ids].find(([, one]) => one === id)?.[0]);
  };
  t.strictSame(await found('health=invalid'), ['anna@x.test']);
  t.strictSame(await found('provider=social'), names);
  t.strictSame(await found('provider=simulated&health=ready'), ['ANNOUNCER', `${long}a`, `${long}b`, `${long}c`]);
  t.strictSame(await found('search=bob%25'), ['Bob%']);
  t.strictSame(await found('search=%C3%84NNE'), ['Änne']);
  t.strictSame(await found('search=AN_N'), ['an_n']);
  t.strictSame(await found('search=an_'), [], 'the beginning of a username finds nothing');
  t.strictSame(await found('search=anna@x.tes'), []);
  t.strictSame(await found('search=x.test'), []);
  t.strictSame(await found('search=ouncer'), [], 'from its beginning');
  const annas = [`${long}a`, `${long}b`, `${long}c`, 'ANNOUNCER'];
  t.strictSame(
    (await found('search=ANN')).toSorted(),
    annas.toSorted(),
    'each once, though names share their beginning',
  );
  t.strictSame(await found('search=ann@X.test&provider=social&health=ready'), ['Ann@x.test']);
  t.strictSame(await found('search=anna@x.test&health=ready'), []);
  const shown = await edge.call('GET', '/v1/connections?provider=social');
  t.notMatch(shown.text, /nna?@x\.test|Änne/i, 'no answer shows a username');
  t.strictSame(await found(`search=${long}b`), [`${long}b`]);
  const all = await edge.call('GET', '/v1/connections?health=ready');
  t.strictSame(Object.keys(all.json), ['connections'], 'without limit and cursor all that fit');
  t.equal(all.json.connections.length, ids.size - 1);
  for (const query of ['health=x', 'provider=x', 'search=', 'search=%00', 'search=a&cursor=x', 'search=%20']) {
    t.equal((await edge.call('GET', `/v1/connections?${query}`)).status, 400, query);
  }
});

longTest(t, 'a page of filtered connections costs the same however many there are', async (t) => {
  const { db } = await freshDatabase(t);
  const workspaceId = await insertWorkspace(db);
  await insertConnections(db, workspaceId, CONNECTIONS);
  await insertSocial(db, workspaceId, 'rare');
  await db.query('analyze', 'analyze connection');
  const sql = countingBlocks(db);
  const fits = (provider: Provider | null, health: Health | null) => ({ workspaceId, provider, health });
  const page: [what: string, rows: number, read: () => Promise<object[]>][] = [
    ['health', 101, () => listFilteredConnections(sql, fits(null, 'ready'), LIST_START, 101)],
    ['rare health', 0, () => listFilteredConnections(sql, fits(null, 'invalid'), LIST_START, 101)],
    ['rare provider', 1, () => listFilteredConnections(sql, fits('social', null), LIST_START, 101)],
    ['name', 101, () => searchConnections(sql, fits(null, null), '7', NAMES_START, 101)],
    ['further on', 101, () => searchConnections(sql, fits(null, null), '7', { name: '77', id: LIST_START.id }, 101)],
    ['rare name', 1, () => searchConnections(sql, fits(null, null), 'rare', NAMES_START, 101)],
    ['name of no health', 0, () => searchConnections(sql, fits(null, 'invalid'), '7', NAMES_START, 101)],
  ];
  for (const [what, rows, read] of page) {
    t.equal((await read()).length, rows, what);
    t.ok(sql.blocks < 700, `${what}: ${sql.blocks} blocks`);
  }
});

t.test('the rarest operation is found by following next_cursor over short pages', async (t) => {
  const edge = await startTestEdge(t);
  const { db, workspaceId } = edge;
  const { id } = await insertSimulated(db, workspaceId, 'ann');
  await insertOperations(db, id, 1, 'canceled');
  await insertOperations(db, id, 3 * LIMITS.looked_at_operations);
  await insertOperations(db, id, 2, 'canceled');
  const sizes: number[] = [];
  const found = new Set<string>();
  let cursor: string | null = '';
  while (cursor !== null) {
    const page = await edge.call('GET', `/v1/operations?status=canceled${cursor && `&cursor=${cursor}`}`);
    t.equal(page.status, 200);
    sizes.push(page.json.operations.length);
    for (const one of idsOf(page.json.operations)) found.add(one);
    cursor = page.json.next_cursor;
  }
  t.equal(found.size, 3);
  t.strictSame(sizes, [2, 0, 0, 1]);
});

/** Reads an answer as fast, or as slowly, as `each` lets it; the bytes are dropped. Resolves with the last of them. */
async function readAnswer(
  edge: EdgeUnderTest,
  path: string,
  each: (bytes: number) => void = () => {},
): Promise<string> {
  const socket = connect(edge.edge.port, '127.0.0.1');
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${edge.key}\r\n\r\n`);
  let tail = '';
  for await (const chunk of socket) {
    tail = (tail + (chunk as Buffer).toString('latin1')).slice(-100);
    if (tail.endsWith('\r\n0\r\n\r\n')) break;
    each((chunk as Buffer).length);
  }
  return tail;
}

longTest(t, `a list of ${CONNECTIONS} connections stalls nobody`, async (t) => {
  const edge = await startTestEdge(t);
  await insertConnections(edge.db, edge.workspaceId, CONNECTIONS);
  await edge.db.query('analyze', 'analyze connection');
  const { query } = edge.db;
  let slices = 0;
  edge.db.query = (name, text, values) => {
    if (name === 'listConnections') slices++;
    return query(name, text, values);
  };
  t.teardown(() => {
    edge.db.query = query;
  });
  let listing = true;
  let polls = 0;
  const polling = (async () => {
    while (listing) {
      t.equal((await edge.call('GET', '/healthz', { key: '' })).status, 200);
      polls++;
    }
  })();
  let most = 0;
  const watching = (async () => {
    while (listing) {
      const before = slices;
      await new Promise(setImmediate);
      most = Math.max(most, slices - before);
    }
  })();
  const tails = await Promise.all(Array.from({ length: 2 }, () => readAnswer(edge, '/v1/connections')));
  listing = false;
  await watching;
  await polling;
  for (const tail of tails) t.match(tail, /\]\}\r\n0\r\n\r\n$/);
  t.comment(JSON.stringify({ slices, most, polls }));
  t.ok(most <= 2, `of each list no more than a slice at a turn of the event loop: ${most}`);
  t.ok(polls > slices / 10, `others are answered meanwhile: ${polls}`);
});

longTest(t, `of a list of ${CONNECTIONS} connections little is held at a time`, async (t) => {
  const edge = await startTestEdge(t);
  await insertConnections(edge.db, edge.workspaceId, CONNECTIONS);
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const held = () => {
    collect();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  const before = held();
  let [bytes, looks, most] = [0, 0, 0];
  await readAnswer(edge, '/v1/connections', (length) => {
    bytes += length;
    if (bytes < looks * 2 ** 22) return;
    looks++;
    most = Math.max(most, held() - before);
  });
  t.comment(JSON.stringify({ bytes, looks, most }));
  t.ok(looks > 5, `${looks} looks`);
  t.ok(most < bytes / 5, `${most} of ${bytes} bytes`);
});

t.test('who reads a list slowly holds neither much of it nor a connection to the database', async (t) => {
  const edge = await startTestEdge(t);
  await insertConnections(edge.db, edge.workspaceId, 25_000);
  const { query } = edge.db;
  let slices = 0;
  edge.db.query = (name, text, values) => {
    if (name === 'listConnections') slices++;
    return query(name, text, values);
  };
  t.teardown(() => {
    edge.db.query = query;
  });
  const socket = connect(edge.edge.port, '127.0.0.1');
  t.teardown(() => socket.destroy());
  await once(socket, 'connect');
  socket.pause();
  socket.write(`GET /v1/connections HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${edge.key}\r\n\r\n`);
  await once(socket, 'readable');
  // What the two sockets hold is taken, and then no more: no connection to the database stays taken.
  let seen = -1;
  while (seen !== slices || edge.db.pool.idleCount < edge.db.pool.totalCount) {
    seen = slices;
    await delay(300);
  }
  t.comment(`${slices} slices before it was read`);
  t.ok(slices * LIMITS.list_slice_rows < 20_000, `${slices} slices`);
  // In sips: each lets the edge write a little, and nothing heaps up.
  let bytes = 0;
  const text = [];
  for (let sips = 0; ; sips++) {
    const sip = socket.read(sips < 300 ? 10_000 : undefined) as Buffer | null;
    if (!sip) {
      await once(socket, 'readable');
      continue;
    }
    bytes += sip.length;
    text.push(sip.toString('latin1'));
    if (sip.includes('\r\n0\r\n\r\n')) break;
    if (sips < 300) await new Promise(setImmediate);
    if (sips === 300) t.ok((slices - seen) * LIMITS.list_slice_rows < 12_000, `${slices} slices after 3 MB were read`);
  }
  const body = text
    .join('')
    .replace(/^[\s\S]*?\r\n\r\n/, '\r\n')
    .replaceAll(/\r\n[0-9a-fA-F]+\r\n/g, '');
  t.equal(JSON.parse(body).connections.length, 25_000);
  t.equal(slices, 25_000 / LIMITS.list_slice_rows + 1);
  t.comment(`${bytes} bytes`);
});
