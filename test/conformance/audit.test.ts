import { randomBytes } from 'node:crypto';
import t, { type Test } from 'tap';
import { request } from 'undici';
import { route } from '../../server/http/route.js';
import { routes } from '../../server/table.js';
import { type AuditFilter, type AuditRow, listAudit } from '../../storage/audit/entries.js';
import { recordAudit } from '../../storage/audit/record.js';
import { AUDIT_ACTIONS } from '../../storage/model/audit.js';
import { PLAIN_VAULT } from '../../storage/model/vault.js';
import type { Database } from '../../storage/postgres/database.js';
import { createKey, findKey } from '../../storage/workspaces/keys.js';
import { createOperator } from '../../storage/workspaces/operators.js';
import { freshDatabase } from '../fixture/database.js';
import { insertSimulated, insertSocial } from '../fixture/rows.js';
import { rowsRead } from '../fixture/rows-read.js';
import { startTestEdge } from '../server/edge-fixture.js';
import { insertDeliveries, putOperation, takeCode } from '../server/rows.js';

/** Of the audit log (HTTP-30): every write and reveal of the table of routes leaves one entry, whatever goes wrong on the way. */

const ALL: AuditFilter = { workspaceId: null, actorId: null, action: null, targetId: null, since: null, until: null };

async function entriesOf(db: Database): Promise<AuditRow[]> {
  return (await listAudit(db, ALL, null, 1_000)).entries;
}

/** An edge that can issue links, with an operator and a way to ask for what stands behind each route. */
async function audited(t: Test) {
  const { db } = await freshDatabase(t, { ...PLAIN_VAULT, hash: (text) => Buffer.from(text.padEnd(32).slice(0, 32)) });
  const edge = await startTestEdge(t, { publicUrl: 'http://127.0.0.1' }, db);
  const operator = await createOperator(db, 'Grace', null);
  return { ...edge, operator, ...resources({ ...edge, operatorKey: operator.key }) };
}

type Edge = Awaited<ReturnType<typeof startTestEdge>> & { operatorKey: string };

/** What each route needs, made anew; and the request that succeeds. By the id of its operation. */
function resources({ db, call, system, workspaceId, operatorKey }: Edge) {
  let made = 0;
  const connection = async () => (await insertSimulated(db, workspaceId, `actor-${made++}`)).id;
  const submit = async (id: string, key = `key-${made++}`) =>
    call('POST', `/v1/connections/${id}/operations`, {
      body: { capability: 'social.identity.get', input: {} },
      headers: { 'idempotency-key': key },
    });
  const operation = async () => (await submit(await connection())).json.id;
  const subscribe = async () =>
    call('POST', `/v1/connections/${await connection()}/subscriptions`, {
      body: { event_types: ['message_received'], callback_url: 'https://127.0.0.1:8443/x' },
    });
  const subscription = async () => (await subscribe()).json.id;
  const failed = async () => {
    const id = await subscription();
    return { id, delivery: (await insertDeliveries(db, id, ['failed'])).deliveries[0] };
  };
  const key = async () =>
    (await createKey(db, { workspaceId, name: 'k', scopes: ['events:read'], expiresAt: null }))!.row.id;
  const asOperator = { key: operatorKey };
  const link = async () => {
    const { json } = await call('POST', `/v1/connections/${await connection()}/reconnect-link`);
    return { token: String(json.url).split('#')[1], page: randomBytes(32).toString('base64url') };
  };
  const waiting = async (id: string) => {
    await putOperation(db, id, 'waiting_user');
    system.owner = (hint) => void (hint.type === 'code' && takeCode(db, id));
  };
  const signIn = (given = operatorKey) => call('POST', '/console/session', { key: '', body: { key: given } });

  /** The request is returned, not made: what it needs has entries of its own. */
  const requests: Record<string, () => Promise<() => ReturnType<typeof call>>> = {
    createConnection: async () => {
      const body = { provider: 'simulated', external_actor: { kind: 'person', id: `new-${made++}` } };
      return () => call('POST', '/v1/connections', { body });
    },
    updateConnection: async () => {
      const { id } = await insertSocial(db, workspaceId, `ada-${made++}`);
      return () => call('PATCH', `/v1/connections/${id}`, { body: { password: 'a new one' } });
    },
    renameConnection: async () => {
      const id = await connection();
      return () => call('PUT', `/v1/connections/${id}/reference`, { body: { reference: 'customer-4711' } });
    },
    disconnectConnection: async () => {
      const id = await connection();
      return () => call('POST', `/v1/connections/${id}/disconnect`);
    },
    deleteConnection: async () => {
      const id = await connection();
      return () => call('DELETE', `/v1/connections/${id}`);
    },
    createReconnectLink: async () => {
      const id = await connection();
      return () => call('POST', `/v1/connections/${id}/reconnect-link`);
    },
    signInByLink: async () => {
      const body = await link();
      return () => call('POST', '/reconnect/login', { key: '', body });
    },
    answerChallengeByLink: async () => {
      const body = await link();
      await call('POST', '/reconnect/login', { key: '', body });
      const { operations } = (await call('GET', '/v1/operations')).json;
      await waiting(operations[0]!.id as string);
      return () =>
        call('POST', '/reconnect/code', { key: '', body: { ...body, challenge_id: 'challenge-1', code: '1' } });
    },
    submitOperation: async () => {
      const id = await connection();
      return () => submit(id);
    },
    sendInvitation: async () => {
      const id = await connection();
      const headers = { prefer: 'respond-async' };
      const body = { hash_id: 'ACoAAGrace1' };
      return () => call('POST', `/v1/accounts/${id}/linkedin/invite`, { headers, body });
    },
    cancelOperation: async () => {
      const id = await operation();
      return () => call('POST', `/v1/operations/${id}/cancel`);
    },
    cancelOperations: async () => {
      const id = await connection();
      await submit(id);
      return () => call('POST', '/v1/operations/cancel', { body: { connection_id: id } });
    },
    reconcileOperation: async () => {
      const id = await operation();
      await putOperation(db, id, 'outcome_unknown');
      await db.query('testUnqueued', 'delete from pgboss.job_common', []);
      return () => call('POST', `/v1/operations/${id}/reconcile`);
    },
    answerChallenge: async () => {
      const id = await operation();
      await waiting(id);
      const body = { challenge_id: 'challenge-1', code: '1' };
      return () => call('POST', `/v1/operations/${id}/challenge`, { body });
    },
    getOperationInput: async () => {
      const id = await operation();
      return () => call('GET', `/v1/operations/${id}/input`);
    },
    createSubscription: async () => subscribe,
    updateSubscription: async () => {
      const id = await subscription();
      return () => call('PATCH', `/v1/subscriptions/${id}`, { body: { active: false } });
    },
    createWorkspaceSubscription: async () => {
      const body = { event_types: ['message_received'], callback_url: 'https://127.0.0.1/all' };
      return () => call('POST', '/v1/subscriptions', { body });
    },
    changeSubscription: async () => {
      const id = await subscription();
      const body = { event_types: ['message_sent'], callback_url: 'https://127.0.0.1/other' };
      return () => call('PUT', `/v1/subscriptions/${id}`, { body });
    },
    deleteSubscription: async () => {
      const id = await subscription();
      return () => call('DELETE', `/v1/subscriptions/${id}`);
    },
    holdSubscription: async () => {
      const id = await subscription();
      return () => call('POST', `/v1/subscriptions/${id}/hold`);
    },
    releaseSubscription: async () => {
      const id = await subscription();
      await call('POST', `/v1/subscriptions/${id}/hold`);
      return () => call('POST', `/v1/subscriptions/${id}/release`);
    },
    rotateSubscriptionSecret: async () => {
      const id = await subscription();
      return () => call('POST', `/v1/subscriptions/${id}/rotate-secret`);
    },
    sendTestEvent: async () => {
      const id = await subscription();
      return () => call('POST', `/v1/subscriptions/${id}/test`);
    },
    recordSimulatedEvent: async () => {
      const id = await connection();
      const body = { type: 'message_received', data: { n: 1 } };
      return () => call('POST', `/v1/connections/${id}/simulated-events`, { body });
    },
    replayDelivery: async () => {
      const { delivery } = await failed();
      return () => call('POST', `/v1/deliveries/${delivery}/replay`);
    },
    replayFailedDeliveries: async () => {
      const { id } = await failed();
      return () => call('POST', `/v1/subscriptions/${id}/replay-failed`, { body: { since: '2020-01-01T00:00:00Z' } });
    },
    getDeliveryBody: async () => {
      const { delivery } = await failed();
      return () => call('GET', `/v1/deliveries/${delivery}/body`);
    },
    createKey: async () => {
      const body = { workspace_id: workspaceId, scopes: ['events:read'] };
      return () => call('POST', '/v1/operator/keys', { ...asOperator, body });
    },
    rotateKey: async () => {
      const id = await key();
      return () => call('POST', `/v1/operator/keys/${id}/rotate`, { ...asOperator, body: {} });
    },
    revokeKey: async () => {
      const id = await key();
      return () => call('POST', `/v1/operator/keys/${id}/revoke`, asOperator);
    },
    signIn: async () => signIn,
    signOut: async () => {
      const cookie = String((await signIn()).headers['set-cookie']).split(';')[0] ?? '';
      return () => call('DELETE', '/console/session', { key: '', headers: { cookie } });
    },
  };
  return { requests, connection, submit, operation, key, signIn, asOperator };
}

t.test(
  'each write and each reveal of the table leaves one entry, and a repeat that changes nothing none',
  async (t) => {
    const { db, requests, workspaceId } = await audited(t);
    const recorded = routes.filter(({ audit }) => audit !== undefined && audit !== 'none');
    t.strictSame(Object.keys(requests).sort(), recorded.map(({ operationId }) => operationId).sort(), 'all are asked');
    for (const { operationId, audit } of recorded) {
      const ask = await requests[operationId]!();
      const before = await entriesOf(db);
      const reply = await ask();
      if (!t.ok(reply.status < 300, `${operationId} ${reply.status} ${reply.text}`)) continue;
      const known = new Set(before.map(({ id }) => id));
      const added = (await entriesOf(db)).filter(({ id }) => !known.has(id));
      t.match(added, [{ action: audit, address: '127.0.0.1' }], operationId);
      t.equal(added.length, 1, operationId);
      const spans = ['signIn', 'signOut'].includes(operationId); // of an operator, who is in no workspace yet
      t.equal(added[0]?.workspace_id, spans ? null : workspaceId, operationId);
    }
    const once = [
      'cancelOperation',
      'reconcileOperation',
      'updateSubscription',
      'changeSubscription',
      'deleteSubscription',
      'holdSubscription',
      'releaseSubscription',
      'revokeKey',
      'signOut',
      'deleteConnection',
    ];
    for (const operationId of once) {
      const ask = await requests[operationId]!();
      await ask();
      const { length } = await entriesOf(db);
      await ask();
      t.equal((await entriesOf(db)).length, length, `${operationId} again`);
    }
  },
);

t.test('a submission whose answer was lost is sent again, and leaves one entry', async (t) => {
  const { db, connection, submit, call } = await audited(t);
  const id = await connection();
  const first = await submit(id, 'once');
  const again = await submit(id, 'once');
  t.match([first.status, again.status, again.json.id], [202, 200, first.json.id]);
  const [entry, ...others] = await entriesOf(db);
  t.match(entry, { action: 'operation.submit', target_ids: [first.json.id], actor_kind: 'key', request_id: null });
  t.strictSame(others, []);
  for (const target of [first.json.id, id]) {
    const found = (await call('GET', `/v1/audit?target=${target}`)).json.entries as object[];
    t.equal(found.length, target === id ? 0 : 1, 'a submission is found by its operation');
  }
});

t.test('a request id is kept where it has the form of an id, as others are a client’s words', async (t) => {
  const { db, call } = await audited(t);
  const body = (id: string) => ({ provider: 'simulated', external_actor: { kind: 'person', id } });
  const sent = async (requestId: string) => {
    const headers = { 'x-request-id': requestId };
    const reply = await call('POST', '/v1/connections', { body: body(requestId), headers });
    t.equal(reply.headers['x-request-id'], requestId);
    return (await entriesOf(db))[0]?.request_id;
  };
  for (const id of ['0199a8d4-7c1e-7d60-9a53-5f0c7a3e2b11', '4bf92f3577b34da6a3ce929d0e0e4736'])
    t.equal(await sent(id), id);
  for (const text of ['for ada@example.test', '4bf92f3577b34da6a3ce929d0e0e473', '0199a8d47c1e-7d60-9a53-5f0c7a3e2b11'])
    t.equal(await sent(text), null, text);
  const { headers } = await call('POST', '/v1/connections', { body: body('made') });
  t.equal((await entriesOf(db))[0]?.request_id, headers['x-request-id'], 'what the service made is');
});

t.test('of the command line a workspace sees no account and no machine, operators do', async (t) => {
  const { db, url, workspaceId, call, asOperator } = await audited(t);
  const own = await createKey(db, { workspaceId, name: null, scopes: ['connections:write'], expiresAt: null });
  const actor = { kind: 'command_line' as const, id: null, name: 'root@node-1', address: null };
  const entry = { actor, action: 'limit.set' as const, workspaceId, targets: [], requestId: null };
  await db.transaction((tx) => recordAudit(tx, entry));
  const shown = { kind: 'command_line', id: null, name: null };
  t.match((await call('GET', '/v1/audit')).json.entries, [{ actor: shown }]);
  t.match((await call('GET', '/v1/operator/audit', asOperator)).json.entries, [{ actor: { name: actor.name } }]);
  const firstLine = async (path: string, bearer: string) => {
    const { body } = await request(`${url}${path}`, { headers: { authorization: `Bearer ${bearer}` } });
    let text = '';
    for await (const piece of body.on('error', () => {})) {
      text += piece;
      if (text.trim().length > 0 && text.endsWith('\n')) break;
    }
    return JSON.parse(text);
  };
  t.match(await firstLine('/v1/audit/stream', own!.key), { actor: shown });
  t.match(await firstLine('/v1/operator/audit/stream', asOperator.key), { actor: { name: actor.name } });
});

t.test('what is refused, and what is rolled back, leaves none; a refused sign-in does', async (t) => {
  const { db, call, workspaceId, connection, signIn, key } = await audited(t);
  const id = await connection();
  await call('PATCH', `/v1/connections/${id}`, { body: { surprise: 1 } });
  await call('POST', `/v1/connections/${id}/disconnect`, { key: '' });
  await call('POST', `/v1/operator/keys/${await key()}/revoke`); // no operator
  t.strictSame(await entriesOf(db), []);
  const { id: keyId } = (await findKey(db, await key()))!;
  const actor = { kind: 'key' as const, id: keyId, name: 'k', address: null };
  const work = db.transaction(async (tx) => {
    await recordAudit(tx, { actor, action: 'key.revoke', workspaceId, targets: [['key', keyId]], requestId: null });
    throw new Error('after the entry');
  });
  await t.rejects(work, /after the entry/);
  t.strictSame(await entriesOf(db), []);
  t.equal((await signIn(`cs_${randomBytes(32).toString('base64url')}`)).status, 401);
  const refused = { action: 'console.sign_in_refused', actor_kind: 'unknown', actor_id: null, workspace_id: null };
  t.match(await entriesOf(db), [{ ...refused, details: { code: 'unauthorized' } }]);
  const [own] = (await call('GET', '/v1/audit')).json.entries as object[];
  t.equal(own, undefined, 'it is no workspace’s');
});

t.test('nobody changes, deletes or empties the log, and no route that writes goes without an action', async (t) => {
  const { db, connection, submit } = await audited(t);
  await submit(await connection());
  const refusal = { code: '42501', message: /append-only/ };
  for (const change of [
    `update audit.entry set action = 'key.create'`,
    'delete from audit.entry',
    'truncate audit.entry',
    'truncate audit.entry cascade',
  ]) {
    await t.rejects(
      db.query('testChange', change, []).finally(() => db.query('testNothing', 'select 1', [])),
      refusal,
    );
  }
  t.equal((await entriesOf(db)).length, 1);
  const [written] = routes.filter(({ method }) => method === 'POST');
  const { audit: _, ...silent } = written!;
  t.throws(() => route(silent), /names no action/);
  for (const [action, meaning] of Object.entries(AUDIT_ACTIONS)) t.match(meaning, /\.$/, action);
});

/** Entries of another time, as many as a busy year has: fewer than a list of them may read. */
async function insertEntries(db: Database, workspaceId: string, count: number): Promise<void> {
  await db.query(
    'testEntries',
    `insert into audit.entry (at, id, workspace_id, actor_kind, action, target_ids)
     select now() - n * interval '1 second', gen_random_uuid(), $1, 'key', 'operation.submit', '{}' from generate_series(1, $2::int) n`,
    [workspaceId, count],
  );
  await db.query('testAnalyze', 'analyze audit.entry', []);
}

t.test('pages go on where the one before ended, and read no more than they hold', async (t) => {
  const { db, call, workspaceId, requests, operator, asOperator } = await audited(t);
  await insertEntries(db, workspaceId, 30_000);
  for (let n = 0; n < 5; n++) await (await requests.createKey!())();
  const filter = { ...ALL, workspaceId };
  const middle = (await listAudit(db, filter, null, 2_000)).next;
  const read = (given: Partial<typeof ALL>, before = middle) =>
    db.transaction((tx) => rowsRead(tx, 'entry', () => listAudit(tx, { ...filter, ...given }, before, 10)));
  t.match(await read({}), { scanned: 0, found: 11 });
  const since = new Date(Date.now() - 60_000_000);
  const bounded = await read({ since });
  t.ok(bounded.found <= 12 && bounded.scanned === 0, `${bounded.found} rows where a time bounds them`);
  const rare = await read({ action: 'proxy.add' });
  t.ok(rare.found <= 20_000 && rare.scanned === 0, `${rare.found} rows for what is rare`);
  t.match(rare.given, { entries: [], next: { id: /-/ } }, 'an empty page goes on');
  const seen: unknown[] = [];
  for (let cursor = ''; ; ) {
    const query = `actor=${operator.row.id}&limit=2${cursor}`;
    const { json } = await call('GET', `/v1/operator/audit?${query}`, asOperator);
    seen.push(...(json.entries as { action: string }[]).map(({ action }) => action));
    if (json.next_cursor === null) break;
    cursor = `&cursor=${json.next_cursor}`;
  }
  t.strictSame(seen, Array(5).fill('key.create'));
  const others = await call('GET', `/v1/operator/audit?workspace=${operator.row.id}`, asOperator);
  t.strictSame(others.json.entries, []);
});

t.test('a follower that is cut goes on behind its last line: none is lost and none comes twice', async (t) => {
  const { db, url, operator, workspaceId } = await audited(t);
  const actor = { kind: 'command_line' as const, id: null, name: null, address: null };
  const entry = { actor, action: 'workspace.create' as const, workspaceId, targets: [], requestId: null };
  const add = () => db.transaction((tx) => recordAudit(tx, entry));
  const ids: string[] = [];
  let cursor = '';
  const follow = async (wanted: number) => {
    const headers = { authorization: `Bearer ${operator.key}` };
    const { body, statusCode } = await request(`${url}/v1/operator/audit/stream${cursor}`, { headers });
    t.equal(statusCode, 200);
    let text = '';
    for await (const piece of body.on('error', () => {})) {
      text += piece;
      const lines = text
        .split('\n')
        .slice(0, -1)
        .filter((line) => line.trim() !== '');
      if (lines.length < wanted) continue;
      for (const line of lines) ids.push(JSON.parse(line).id);
      cursor = `?cursor=${JSON.parse(lines.at(-1) ?? '').cursor}`;
      break;
    }
  };
  await add();
  await follow(1);
  // One begins before others and commits after them: it stands before them, so they wait for it.
  const slow = db.transaction(async (tx) => {
    await recordAudit(tx, entry);
    await add();
    await add();
    const held = await db.query(
      'testBelow',
      'select 1 from audit.entry where xact < pg_snapshot_xmin(pg_current_snapshot())',
      [],
    );
    t.equal(held.length, 1, 'nothing behind what is under way is shown');
  });
  await slow;
  await follow(3);
  await add();
  await follow(1);
  const stored = await db.query<{ id: string }>('testAll', 'select id from audit.entry order by xact, id', []);
  t.strictSame(
    ids,
    stored.map(({ id }) => id),
  );
});
