import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { request } from 'undici';
import { LIMITS } from '../../../../server/http/limits.js';
import { recordAudit } from '../../../../storage/audit/record.js';
import type { Database } from '../../../../storage/postgres/database.js';
import { createKey, revokeKey } from '../../../../storage/workspaces/keys.js';
import { createOperator } from '../../../../storage/workspaces/operators.js';
import { freshDatabase } from '../../../fixture/database.js';
import { eventually } from '../../../fixture/eventually.js';
import { insertWorkspace } from '../../../fixture/rows.js';
import { longTest } from '../../../fixture/size.js';
import { type EdgeUnderTest, insertKey, startTestEdge } from '../../edge-fixture.js';

/** Of the stream of the audit log (HTTP-30): what ends it, what bounds it, and that writers who race lose nothing in it. */

const ACTOR = { kind: 'command_line' as const, id: null, name: null, address: null };

const entryOf = (workspaceId: string) => ({
  ...{ actor: ACTOR, action: 'workspace.create' as const, workspaceId, targets: [], requestId: null },
});

/** Follows the log; `lines` has the ids that came, `opened` is when the first line did, and `ended` tells how it ended: `whole`, or `cut`. */
async function follow({ url, key }: Pick<EdgeUnderTest, 'url' | 'key'>, t: Test, path = '/v1/audit/stream') {
  const { body, statusCode } = await request(url + path, { headers: { authorization: `Bearer ${key}` } });
  const lines: string[] = [];
  const opened = Promise.withResolvers<void>();
  const read = async () => {
    for await (const line of createInterface(body)) {
      if (line !== '') lines.push(JSON.parse(line).id);
      opened.resolve();
    }
  };
  const ended = read().then(
    () => 'whole',
    () => 'cut',
  );
  body.on('error', () => opened.resolve());
  t.teardown(() => body.destroy());
  return { statusCode, body, lines, ended, opened: opened.promise };
}

const shows = (lines: readonly string[], wanted: number) =>
  eventually(
    `the follower has ${wanted} entries`,
    () => lines.length,
    (count) => count >= wanted,
  );

const idsOf = async (db: Database, workspaceId: string): Promise<string[]> =>
  (
    await db.query<{ id: string }>(
      'testEntries',
      'select id from audit.entry where workspace_id = $1 order by xact, id',
      [workspaceId],
    )
  ).map(({ id }) => id);

t.test(
  'writers of any duration race, some are rolled back: a follower has each entry once, in one order',
  async (t) => {
    const edge = await startTestEdge(t);
    const { db, workspaceId } = edge;
    const other = await insertWorkspace(db);
    const { lines, opened } = await follow(edge, t);
    await opened; // though there is no entry yet
    const writer = async (number: number) => {
      for (let n = 0; n < 25; n++) {
        const work = db.transaction(async (tx) => {
          await recordAudit(tx, entryOf(workspaceId));
          await delay((number * 7 + n * 13) % 40);
          await recordAudit(tx, entryOf(n % 3 === 0 ? other : workspaceId));
          if (n % 5 === 4) throw new Error('rolled back');
        });
        await work.catch(() => {});
      }
    };
    await Promise.all(Array.from({ length: 8 }, (_, number) => writer(number)));
    const stored = await idsOf(db, workspaceId);
    await shows(lines, stored.length);
    t.strictSame(lines, stored);
  },
);

t.test('a stream ends with its key, and another one goes on', async (t) => {
  const edge = await startTestEdge(t);
  const { db, workspaceId } = edge;
  const made = await createKey(db, { workspaceId, name: 'k', scopes: ['connections:write'], expiresAt: null });
  const [cut, stays] = [await follow({ url: edge.url, key: made!.key }, t), await follow(edge, t)];
  await db.transaction((tx) => recordAudit(tx, entryOf(workspaceId)));
  await Promise.all([shows(cut.lines, 1), shows(stays.lines, 1)]);
  await revokeKey(db, made!.row.id);
  t.equal(await cut.ended, 'whole', 'with a whole last line');
  await db.transaction((tx) => recordAudit(tx, entryOf(workspaceId)));
  await shows(stays.lines, 2);
});

t.test(
  'so many of a workspace follow at a node, the next one is refused, and one that leaves makes room',
  async (t) => {
    const edge = await startTestEdge(t);
    await edge.db.transaction((tx) => recordAudit(tx, entryOf(edge.workspaceId)));
    const all = await Promise.all(Array.from({ length: LIMITS.audit_streams_workspace }, () => follow(edge, t)));
    await Promise.all(all.map(({ opened }) => opened));
    t.match(await edge.call('GET', '/v1/audit/stream'), { status: 503, json: { code: 'overloaded' } });
    t.equal((await edge.call('GET', '/v1/audit')).status, 200, 'pages are answered meanwhile');
    const { key: operator } = await createOperator(edge.db, 'Grace', null);
    for (const key of [await insertKey(edge.db, await insertWorkspace(edge.db)), operator]) {
      const path = key === operator ? '/v1/operator/audit/stream' : '/v1/audit/stream';
      const other = await follow({ url: edge.url, key }, t, path);
      t.equal(other.statusCode, 200, 'others find room');
    }
    all[0]?.body.destroy();
    const next = await eventually(
      'there is room',
      () => follow(edge, t),
      ({ statusCode }) => statusCode === 200,
    );
    await shows(next.lines, 1);
  },
);

longTest(t, 'a follower that does not read is cut, and its place is free', async (t) => {
  const edge = await startTestEdge(t);
  await edge.db.query(
    'testMany',
    `insert into audit.entry (id, workspace_id, actor_kind, action, target_ids, details)
     select gen_random_uuid(), $1, 'command_line', 'workspace.create', '{}', jsonb_build_object('text', repeat('x', 1000)) from generate_series(1, 30000)`,
    [edge.workspaceId],
  );
  const socket = connect(edge.edge.port, '127.0.0.1').on('error', () => {});
  t.teardown(() => void socket.destroy());
  socket.write(`GET /v1/audit/stream HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${edge.key}\r\n\r\n`);
  await once(socket, 'data');
  socket.pause();
  const { audit_streams, audit_streams_operators } = LIMITS;
  const keys: string[] = [];
  // Two of each: with more a workspace would make way.
  for (let n = audit_streams - audit_streams_operators - 1; n > 0; n -= 2) {
    const key = await insertKey(edge.db, await insertWorkspace(edge.db));
    keys.push(...new Array<string>(Math.min(n, 2)).fill(key));
  }
  const others = await Promise.all(keys.map((key) => follow({ url: edge.url, key }, t)));
  const gone: string[] = [];
  for (const { ended } of others) void ended.then((how) => gone.push(how));
  await Promise.all(others.map(({ opened }) => opened));
  t.equal((await edge.call('GET', '/v1/audit/stream')).status, 503, 'it has its place');
  const next = await eventually(
    'its place is free',
    () => follow(edge, t),
    ({ statusCode }) => statusCode === 200,
  );
  await next.opened;
  t.strictSame(gone, [], 'those that read have theirs, though nothing came for as long');
});

t.test('streams end at once when the edge closes, between two lines', async (t) => {
  const edge = await startTestEdge(t);
  await edge.db.transaction((tx) => recordAudit(tx, entryOf(edge.workspaceId)));
  const follower = await follow(edge, t);
  await shows(follower.lines, 1);
  const [ended] = await Promise.all([follower.ended, edge.edge.close()]);
  t.equal(ended, 'whole');
  t.strictSame(follower.lines, await idsOf(edge.db, edge.workspaceId));
});

t.test('the command follows from where the log ends, and says where it came to when it is interrupted', async (t) => {
  const { db, url } = await freshDatabase(t);
  const workspaceId = await insertWorkspace(db);
  await db.transaction((tx) => recordAudit(tx, entryOf(workspaceId)));
  const command = join(import.meta.dirname, '../../../../server/admin.js');
  const admin = spawn(process.execPath, [command, 'audit', 'list', '--follow', '--workspace', workspaceId], {
    env: { ...process.env, DATABASE_URL: url },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.teardown(() => admin.kill('SIGKILL'));
  const output: string[] = [];
  createInterface(admin.stdout).on('line', (line) => output.push(line));
  await eventually(
    'it shows what was added since',
    async () => {
      await db.transaction((tx) => recordAudit(tx, entryOf(workspaceId)));
      return output.length;
    },
    (count) => count > 0,
  );
  admin.kill('SIGINT');
  const [status] = await once(admin, 'close');
  t.equal(status, 0);
  const shown = output.map((line) => JSON.parse(line));
  t.match(shown.at(-1), { followed_to: /./ });
  const stored = await idsOf(db, workspaceId);
  const ids = shown.slice(0, -1).map(({ id }) => id);
  const from = stored.indexOf(ids[0]);
  t.ok(from >= 1, 'what was there before is left out');
  t.strictSame(ids, stored.slice(from, from + ids.length));
});

t.test('of operators and the command line a workspace sees neither who it was nor where', async (t) => {
  const { db, workspaceId, call, url } = await startTestEdge(t);
  const { key } = await createOperator(db, 'Grace', null);
  const actors = ['operator', 'operator_session', 'command_line', 'key'] as const;
  for (const kind of actors) {
    const actor = {
      kind,
      id: kind === 'command_line' ? null : randomUUID(),
      name: `the ${kind}`,
      address: '192.0.2.7',
    };
    await db.transaction((tx) => recordAudit(tx, { ...entryOf(workspaceId), actor }));
  }
  const entries = (list: unknown) =>
    (list as { entries: { actor: { kind: string; id: string | null; name: string | null }; address: string | null }[] })
      .entries;
  for (const { actor, address } of entries((await call('GET', '/v1/audit')).json)) {
    const own = actor.kind === 'key';
    t.strictSame([actor.name, address], own ? ['the key', '192.0.2.7'] : [null, null], actor.kind);
    t.equal(actor.id === null, actor.kind === 'command_line', 'ids are shown');
  }
  const { body } = await request(`${url}/v1/operator/audit`, { headers: { authorization: `Bearer ${key}` } });
  for (const { actor, address } of entries(await body.json()))
    t.strictSame([actor.name, address], [`the ${actor.kind}`, '192.0.2.7'], 'an operator sees all');
});
