import { execFile, spawn } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { hostname } from 'node:os';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { v7 as uuidv7 } from 'uuid';
import { type CommandEnd, endOfCommand } from '../../../server/admin/command.js';
import { recordAudit } from '../../../storage/audit/record.js';
import { findProxy, openProxy } from '../../../storage/connections/proxies.js';
import { keyRing, parseEncryptionKeys } from '../../../storage/secrets/encryption.js';
import { freshDatabase } from '../../fixture/database.js';
import { eventually } from '../../fixture/eventually.js';
import { insertLaterJob } from '../../fixture/jobs.js';
import { recorded } from '../../fixture/recorded.js';
import { insertSimulated, insertWorkspace } from '../../fixture/rows.js';
import { longTest } from '../../fixture/size.js';

const PROGRAM = fileURLToPath(new URL('../../../server/admin.js', import.meta.url));
const OLD = `old:${Buffer.alloc(32, 1).toString('base64')}`;
const NEW = `new:${Buffer.alloc(32, 2).toString('base64')}`;
const UNKNOWN = '00000000-0000-7000-8000-000000000000';

/** The command line on a database of its own: `run` how it ends, `answer` what it prints. As a process of its own where it gets an input. */
async function operator(t: Test) {
  const { url, db } = await freshDatabase(t);
  const environment = { PATH: process.env.PATH, DATABASE_URL: url, ENCRYPTION_KEYS: OLD };
  const run = (args: string[], variables: Record<string, string> = {}, input?: string) => {
    const env = { ...environment, ...variables };
    if (input === undefined) return endOfCommand(env, args);
    return new Promise<CommandEnd>((resolve) => {
      const child = execFile(process.execPath, [PROGRAM, ...args], { env }, (error, stdout, stderr) => {
        resolve({ status: Number(error?.code ?? 0), stdout, stderr });
      });
      child.stdin?.end(input);
    });
  };
  const answer = async (args: string[], env?: Record<string, string>, input?: string) => {
    const ended = await run(args, env, input);
    t.match(ended, { status: 0, stderr: '' }, args.join(' '));
    return JSON.parse(ended.stdout);
  };
  return { db, url, run, answer };
}

t.test('a workspace is made and listed', async (t) => {
  const { answer } = await operator(t);
  const made = await answer(['workspace', 'create', '--name', ' Acme ']);
  t.match(made, { workspace_id: /^[0-9a-f-]{36}$/, name: 'Acme' });
  t.same(await answer(['workspace', 'list']), { workspaces: [made] });
});

t.test('a workspace gets limits of its own, and what cannot be one is refused with one line', async (t) => {
  const { run, answer } = await operator(t);
  const { workspace_id } = await answer(['workspace', 'create', '--name', 'Acme']);
  const of = (verb: string, limit = 'connections') => ['limit', verb, '--workspace', workspace_id, '--limit', limit];
  const set = { workspace_id, name: 'connections', value: 50 };
  t.same(await answer([...of('set'), '--value', '50']), set);
  t.same(await answer(['limit', 'list']), { limits: [set] });
  const refused: [string[], number, RegExp][] = [
    [[...of('set'), '--value', '0'], 2, /'--value <number>' argument '0' is invalid. It wants a whole number from 1/],
    [[...of('set'), '--value', '1e3'], 2, /It wants a whole number from 1 to 999999999/],
    [
      [...of('set', 'rows'), '--value', '1'],
      2,
      /It wants one of requests_per_second, submissions_per_second, connections/,
    ],
    [['limit', 'set', '--workspace', UNKNOWN, '--limit', 'connections', '--value', '1'], 1, /there is no workspace/],
    [of('clear', 'subscriptions'), 1, /the workspace has no subscriptions of its own/],
  ];
  for (const [args, status, line] of refused) {
    const ended = await run(args);
    t.match(ended, { status, stdout: '', stderr: line }, args.join(' '));
    t.equal(ended.stderr.split('\n').length, 2, 'one line');
  }
  t.same(await answer(of('clear')), { workspace_id, name: 'connections', cleared: true });
  t.same(await answer(['limit', 'list', '--workspace', workspace_id]), { limits: [] });
});

t.test('a key is shown once, stored as a hash, rotated with an overlap and revoked', async (t) => {
  const { db, answer, run } = await operator(t);
  const { workspace_id } = await answer(['workspace', 'create', '--name', 'Acme']);
  const scopes = ['connections:read', 'social:send'];
  const expires = new Date(Date.now() + 3_600_000).toISOString();
  const options = ['--workspace', workspace_id, '--scopes', scopes.join(','), '--name', 'ci', '--expires', expires];
  options.push('--networks', '10.0.0.0/8, 2001:db8::/32');
  const made = await answer(['key', 'create', ...options]);
  t.match(made, { key_id: String, key: /^cs_live_\w{49}$/, workspace_id, scopes, expires_at: expires });
  const [stored] = await db.query<{ key_hash: Buffer }>('testKeyHash', 'select key_hash from api_key');
  t.same(stored?.key_hash, createHash('sha256').update(made.key).digest());

  const listed = await answer(['key', 'list', '--workspace', workspace_id]);
  t.same(Object.keys(listed.keys[0]).sort(), [
    'created_at',
    'expires_at',
    'key_id',
    'last_used_at',
    'last_used_from',
    'name',
    'networks',
    'prefix',
    'revoked_at',
    'scopes',
  ]);
  const shown = {
    key_id: made.key_id,
    name: 'ci',
    prefix: made.key.slice(0, 12),
    last_used_at: null,
    revoked_at: null,
  };
  t.match(listed.keys[0], { ...shown, networks: ['10.0.0.0/8', '2001:db8::/32'] });

  const before = Date.now();
  const rotated = await answer(['key', 'rotate', '--key', made.key_id, '--overlap', '1m']);
  t.match(rotated, { networks: ['10.0.0.0/8', '2001:db8::/32'] }, 'the next one is bound as well');
  t.match(rotated, { key: /^cs_/, workspace_id, scopes, expires_at: expires, previous_key_id: made.key_id });
  t.not(rotated.key, made.key);
  const begins = Date.parse(rotated.previous_valid_until) - 60_000;
  t.ok(begins >= before - 1 && begins <= Date.now() + 1, 'the old one stays valid for the overlap');
  const ending = { status: 1, stderr: /the key ends before the overlap/ };
  t.match(await run(['key', 'rotate', '--key', made.key_id]), ending, 'its successor would end with it');

  const revoked = await answer(['key', 'revoke', '--key', rotated.key_id]);
  t.match(revoked, { key_id: rotated.key_id, revoked_at: String });
  t.same(await answer(['key', 'revoke', '--key', rotated.key_id]), revoked, 'the first time counts');
});

t.test('an operator is made with a key that is shown once, listed, and revoked', async (t) => {
  const { db, answer, run } = await operator(t);
  const made = await answer(['operator', 'create', '--name', 'Grace']);
  t.match(made, { operator_id: String, key: /^cs_oper_\w{49}$/, name: 'Grace', expires_at: null });
  const { operators } = await answer(['operator', 'list']);
  t.match(operators, [{ operator_id: made.operator_id, prefix: made.key.slice(0, 12), last_used_at: null }]);
  t.notMatch(JSON.stringify(operators), made.key);
  const [stored] = await db.query<{ text: string }>('testOperator', 'select o::text as text from operator o');
  t.notMatch(stored?.text, made.key);
  const expires = new Date(Date.now() + 3_600_000).toISOString();
  const bounds = ['--expires', expires, '--networks', '10.0.0.0/8,2001:db8::/32'];
  const bound = await answer(['operator', 'create', '--name', 'Ada', ...bounds]);
  const networks = ['10.0.0.0/8', '2001:db8::/32'];
  t.match(bound, { networks, expires_at: expires });
  const before = Date.now();
  const rotated = await answer(['operator', 'rotate', '--operator', bound.operator_id, '--overlap', '1m']);
  const previous = { previous_operator_id: bound.operator_id };
  t.match(rotated, { key: /^cs_oper_\w{49}$/, name: 'Ada', networks, expires_at: expires, ...previous });
  const begins = Date.parse(rotated.previous_valid_until) - 60_000;
  t.ok(begins >= before - 1 && begins <= Date.now() + 1, 'the old one stays valid for the overlap');
  const ending = { status: 1, stderr: /the key ends before the overlap/ };
  t.match(
    await run(['operator', 'rotate', '--operator', bound.operator_id]),
    ending,
    'its successor would end with it',
  );
  const { entries } = await answer(['audit', 'list', '--action', 'operator.rotate']);
  const both = [bound.operator_id, rotated.operator_id].map((id) => ({ kind: 'operator', id }));
  t.match(entries, [{ targets: both, workspace_id: null }]);
  const revoked = await answer(['operator', 'revoke', '--operator', made.operator_id]);
  t.same(await answer(['operator', 'revoke', '--operator', made.operator_id]), revoked, 'the first time counts');
  for (const verb of ['revoke', 'rotate']) {
    t.match(await run(['operator', verb, '--operator', randomUUID()]), { status: 1 });
  }
  t.match(await run(['operator', 'rotate', '--operator', made.operator_id]), { status: 1 }, 'it was revoked');
});

t.test('a proxy keeps its credentials to itself', async (t) => {
  const { db, answer, run } = await operator(t);
  const url = 'http://user:p%40ss@127.0.0.1:3128';
  const added = await answer(['proxy', 'add', '--region', 'us', '--url', '-'], {}, `${url}\n`);
  t.match(added, { proxy_id: String, region: 'US' });
  t.same(await answer(['proxy', 'list']), {
    proxies: [{ proxy_id: added.proxy_id, region: 'US', url: 'http://127.0.0.1:3128', active: true }],
  });
  const row = await findProxy(db, added.proxy_id);
  t.match(row && openProxy(keyRing(parseEncryptionKeys(OLD)), row), { username: 'user', password: 'p@ss' });

  const keyless = { ENCRYPTION_KEYS: '' };
  t.match(await run(['proxy', 'add', '--region', 'DE', '--url', url], keyless), {
    status: 1,
    stderr: /^credentials cannot be sealed.*\n$/,
  });
  await answer(['proxy', 'add', '--region', 'DE', '--url', 'http://127.0.0.1:3129'], keyless);
  t.same(await answer(['proxy', 'remove', '--proxy', added.proxy_id]), { proxy_id: added.proxy_id });
  t.match((await run(['proxy', 'remove', '--proxy', added.proxy_id])).status, 1);
});

t.test('rotation of encryption seals everything anew, after which the old key can go', async (t) => {
  const { db, answer, run } = await operator(t);
  const url = 'http://user:secret@127.0.0.1:3128';
  const { proxy_id } = await answer(['proxy', 'add', '--region', 'US', '--url', '-'], {}, url);
  const column = 'regional_proxy.credentials_sealed';
  t.same(await answer(['encryption', 'status'], { ENCRYPTION_KEYS: NEW }), {
    keys: ['new'],
    encrypts: 'new',
    installation_keys: ['old'],
    sealed: [{ column, key: 'old', rows: 1, opens: false }],
    cannot_open: 1,
    complete: true,
  });
  const both = { ENCRYPTION_KEYS: `${NEW},${OLD}` };
  t.match(await run(['encryption', 'rotate'], both), { status: 2, stderr: /its nodes have old/ }, 'no node has it yet');
  t.same(await answer(['encryption', 'adopt'], both), {
    installation_keys: ['new', 'old'],
    fingerprint_secret_replaced: false,
  });
  t.match(await answer(['encryption', 'rotate'], both), { resealed: { 'regional_proxy.credentials_sealed': 1 } });
  t.match(await answer(['encryption', 'rotate'], both), { resealed: { 'regional_proxy.credentials_sealed': 0 } });
  const row = await findProxy(db, proxy_id);
  t.match(row && openProxy(keyRing(parseEncryptionKeys(NEW)), row), { username: 'user', password: 'secret' });
  t.match(await answer(['encryption', 'status', '--all'], both), {
    keys: ['new', 'old'],
    sealed: [{ column, key: 'new', rows: 1, opens: true }],
    cannot_open: 0,
    complete: true,
  });
  t.match(await run(['encryption', 'rotate'], { ENCRYPTION_KEYS: '' }), { status: 1, stderr: /no encryption key/ });
});

longTest(t, 'a password among the arguments is warned about, one in a file is not', async (t) => {
  const { run, answer } = await operator(t);
  const url = 'http://user:hunter2@127.0.0.1:3128';
  const add = ['proxy', 'add', '--region', 'us'];
  const warned = await run([...add, '--url', url], {}, ''); // it warns as it runs
  t.match(warned, { status: 0, stdout: /proxy_id/, stderr: /^warning: [^\n]*--url-file[^\n]*\n$/ });
  t.notMatch(warned.stderr, /hunter2/);
  const file = `${t.testdir({ address: `${url}\n` })}/address`;
  t.match(await answer([...add, '--url-file', file]), { region: 'US' });
  t.match((await answer(['proxy', 'list'])).proxies, [
    { url: 'http://127.0.0.1:3128' },
    { url: 'http://127.0.0.1:3128' },
  ]);
  const wrong: [string[], string | undefined, RegExp][] = [
    [add, undefined, /--url-file/],
    [[...add, '--url', '-', '--url-file', file], url, /one of/],
    [[...add, '--url-file', '/nowhere'], undefined, /cannot be read/],
    [[...add, '--url', '-'], 'http://user:hunter2@host:port/', /http:\/\/user:password@host:port/],
    [[...add, '--url', '-'], 'socks5://user:hunter2@127.0.0.1:1080', /SOCKS/],
    [[...add, '--url', '-'], 'http://:hunter2@127.0.0.1:3128', /a name before the password/],
    [[...add, '--url', '-'], 'http://us%3Aer:hunter2@127.0.0.1:3128', /a name without a colon/],
    [[...add, '--url', '-'], 'http://user:hunter2%@127.0.0.1:3128', /%25 for a percent sign/],
  ];
  for (const [args, input, line] of wrong) {
    const ended = await run(args, {}, input);
    t.match(ended, { status: 2, stdout: '', stderr: line }, args.join(' '));
    t.notMatch(ended.stderr, /hunter2/);
  }
});

longTest(
  t,
  'with keys that are not those of the installation nothing is sealed, and nothing else refused',
  async (t) => {
    const { db, run, answer } = await operator(t);
    const url = 'http://user:secret@127.0.0.1:3128';
    const add = ['proxy', 'add', '--region', 'us', '--url', '-'];
    await answer(add, {}, url);
    const sameName = `old:${Buffer.alloc(32, 3).toString('base64')}`;
    for (const foreign of [
      NEW,
      sameName,
      `${OLD},${sameName.replace('old', 'third')}`.split(',').reverse().join(','),
    ]) {
      for (const args of [add, ['encryption', 'rotate']]) {
        const ended = await run(args, { ENCRYPTION_KEYS: foreign }, url);
        t.match(ended, { status: 2, stdout: '', stderr: /^ENCRYPTION_KEYS [^\n]*not the installation's[^\n]*\n$/ });
      }
      await answer(['workspace', 'list'], { ENCRYPTION_KEYS: foreign });
    }
    t.match((await answer(['proxy', 'list'])).proxies.length, 1);
    t.match(await answer(['encryption', 'status', '--all'], { ENCRYPTION_KEYS: NEW }), {
      installation_keys: ['old'],
      cannot_open: 1,
    });
    t.match(await answer(['encryption', 'adopt'], { ENCRYPTION_KEYS: NEW }), { installation_keys: ['new'] });
    await answer(add, { ENCRYPTION_KEYS: NEW }, url);
    t.match(await run(add, {}, url), { status: 2 }, 'from now on the former key is the foreign one');

    await db.query('testForget', 'delete from installation_key');
    t.match(await run(add, { ENCRYPTION_KEYS: `third:${OLD.split(':')[1]}` }, url), {
      status: 2,
      stderr: /sealed under/,
    });
    await answer(add, {}, url);
  },
);

t.test('partitions and queues can be looked at', async (t) => {
  const { answer } = await operator(t);
  const { partitions } = await answer(['partition', 'list']);
  t.equal(partitions.length, 64);
  t.same(partitions[0], { partition: 0, epoch: 0, node_id: null, lease_until: null, owned: false });
  t.match(await answer(['queue', 'stats']), {
    queues: [
      { queue: 'mailbox', ready: 0, scheduled: 0, active: 0, oldest_ready_at: null },
      { queue: 'delivery', ready: 0 },
    ],
  });
});

t.test('the deliveries of one subscription can be looked at', async (t) => {
  const { db, answer, run } = await operator(t);
  const workspaceId = await insertWorkspace(db);
  const connection = await insertSimulated(db, workspaceId, 'ada');
  const subscription = uuidv7();
  await db.query(
    'testSubscribe',
    `insert into subscription (id, workspace_id, connection_id, partition, event_types, callback_url, active, secret_sealed)
     values ($1, $2, $3, $4, '{message_received}', 'https://receiver.test/', true, '')`,
    [subscription, workspaceId, connection.id, connection.partition],
  );
  const event = { connectionId: connection.id, providerEventId: 'one', type: 'message_received' as const, data: {} };
  await recorded(db, workspaceId, [event]);
  const stats = await answer(['delivery', 'stats', '--subscription', subscription.toUpperCase()]);
  t.match(stats, {
    subscription_id: subscription,
    connection_id: connection.id,
    active: true,
    counts: { pending: 1, sending: 0, delivered: 0, failed: 0, canceled: 0 },
    in_flight: 0,
    oldest_pending_s: Number,
    last_delivered_at: null,
    last_failed_at: null,
    oldest_pending: /^\d+ (s|min)/,
    last_24h: { attempts: {}, p50_ms: null, p99_ms: null },
    complete: true,
  });
  t.match(await run(['delivery', 'stats', '--subscription', UNKNOWN]), {
    status: 1,
    stdout: '',
    stderr: `there is no subscription ${UNKNOWN}\n`,
  });
});

t.test('the help of a new key names the scopes', async (t) => {
  const { run } = await operator(t);
  t.match(await run(['key', 'create', '--help'], {}, ''), {
    status: 0,
    stdout: /connections:read,[\s\S]*social:send/,
    stderr: '',
  });
});

t.test('wrong usage is one line and status 2', async (t) => {
  const { run } = await operator(t);
  const past = '2020-01-01T00:00:00Z';
  const create = ['key', 'create', '--workspace', UNKNOWN, '--scopes'];
  const wrong: [string[], RegExp][] = [
    [[], /usage: admin </],
    [['frob'], /usage: admin </],
    [['key'], /usage: admin key <create\|list\|rotate\|revoke>/],
    [['key', 'frob'], /usage: admin key </],
    [['workspace', 'create'], /--name/],
    [['workspace', 'create', '--name', ' '], /1 to 255 characters/],
    [['workspace', 'list', '--frob'], /--frob/],
    [['key', 'list', '--workspace', '7'], /UUID/],
    [['delivery', 'stats'], /--subscription/],
    [['delivery', 'stats', '--subscription', 'mine'], /UUID/],
    [['operation', 'show', '--operation', 'mine'], /UUID/],
    [['request', 'find', '--request-id', ' '], /1 to 128 printable/],
    [['request', 'find', '--request-id', 'x', '--since', 'ever'], /24h/],
    [[...create, 'everything'], /scopes out of connections:read/],
    [[...create, 'events:read', '--expires', past], /future/],
    [['key', 'rotate', '--key', UNKNOWN, '--overlap', 'long'], /24h/],
    [['proxy', 'add', '--region', 'usa', '--url', 'http://127.0.0.1:1'], /two letters/],
    [['proxy', 'add', '--region', 'us', '--url', 'ftp://127.0.0.1'], /http:\/\/user:password@host:port/],
  ];
  for (const [args, line] of wrong) {
    const ended = await run(args);
    t.match(ended, { status: 2, stdout: '', stderr: line }, args.join(' '));
    t.match(ended.stderr, /^[^\n]+\n$/);
  }
});

t.test('a password in a mistyped address is not repeated', async (t) => {
  const { run } = await operator(t);
  const ended = await run(['proxy', 'add', '--region', 'us', '--url', 'http://user:hunter2@host:port/']);
  t.equal(ended.status, 2);
  t.notMatch(ended.stderr, /hunter2/);
});

t.test('what fails is one line and status 1, a bad environment status 2', async (t) => {
  const { run } = await operator(t);
  const list = ['key', 'list', '--workspace', UNKNOWN];
  const cases: [string[], Record<string, string>, number, RegExp][] = [
    [list, {}, 1, /^there is no workspace/],
    [['key', 'rotate', '--key', UNKNOWN], {}, 1, /^there is no usable key/],
    [['key', 'revoke', '--key', UNKNOWN], {}, 1, /^there is no key/],
    [['operation', 'show', '--operation', UNKNOWN], {}, 1, /^there is no operation/],
    [list, { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' }, 1, /^DATABASE_URL: the database does not answer/],
    [list, { PORT: 'x' }, 2, /^PORT has "x"/],
  ];
  for (const [args, env, status, line] of cases) {
    const ended = await run(args, env);
    t.match(ended, { status, stdout: '', stderr: line });
    t.match(ended.stderr, /^[^\n]+\n$/);
  }
});

t.test('a database that nodes are at work on is not taken for a restored one (CLI-7)', async (t) => {
  const { db, run, answer } = await operator(t);
  const workspace = await insertWorkspace(db);
  const connection = await insertSimulated(db, workspace, 'ada');
  for (const capability of ['social.message.send', 'social.profile.get']) {
    const id = uuidv7();
    await db.query(
      'testSubmitted',
      `insert into operation (id, workspace_id, connection_id, partition, capability, status, idempotency_key, fingerprint, input)
       values ($1, $2, $3, $4, $5, 'queued', 'key-' || $5, '\\x00', '{}')`,
      [id, workspace, connection.id, connection.partition, capability],
    );
  }
  await insertLaterJob(db, 'mailbox', connection.partition, connection.id);
  await db.query('testNode', 'insert into node (id) values ($1)', [uuidv7()]);
  const refused = await run(['restore', 'settle']);
  t.match(refused, {
    status: 1,
    stdout: '',
    stderr: /^1 of the database's nodes had a heartbeat .* stop them, or wait\n$/,
  });
  await db.query('testSilent', `update node set heartbeat_at = now() - interval '1 minute'`);
  t.same(await answer(['restore', 'settle']), { outcome_unknown: 1 });
  t.same(await answer(['restore', 'settle']), { outcome_unknown: 0 }, 'once');
  const left = await db.query('testLeft', 'select capability, status from operation order by capability');
  t.strictSame(left, [
    { capability: 'social.message.send', status: 'outcome_unknown' },
    { capability: 'social.profile.get', status: 'queued' },
  ]);
});

t.test('each command leaves one entry in the audit log, one that fails none', async (t) => {
  const { run, answer } = await operator(t);
  const { workspace_id } = await answer(['workspace', 'create', '--name', 'Acme']);
  const { key_id } = await answer(['key', 'create', '--workspace', workspace_id, '--scopes', 'events:read']);
  await answer(['limit', 'set', '--workspace', workspace_id, '--limit', 'connections', '--value', '3']);
  await answer(['limit', 'clear', '--workspace', workspace_id, '--limit', 'connections']);
  await answer(['key', 'revoke', '--key', key_id]);
  await answer(['operator', 'list']);
  t.equal((await run(['key', 'revoke', '--key', UNKNOWN])).status, 1);
  const { entries } = await answer(['audit', 'list']);
  const told = entries.map(({ action, actor, details }: Record<string, { kind: string; command: string }>) => [
    action,
    actor?.kind,
    details?.command,
  ]);
  t.strictSame(told, [
    ['command.read', 'command_line', 'operator list'],
    ['key.revoke', 'command_line', 'key revoke'],
    ['limit.clear', 'command_line', 'limit clear'],
    ['limit.set', 'command_line', 'limit set'],
    ['key.create', 'command_line', 'key create'],
    ['workspace.create', 'command_line', 'workspace create'],
  ]);
  const filtered = await answer(['audit', 'list', '--target', key_id, '--action', 'key.revoke', '--limit', '1']);
  t.match(filtered, { entries: [{ targets: [{ kind: 'key', id: key_id }], workspace_id }], next_cursor: null });
  const whole = await answer(['audit', 'list', '--target', key_id]);
  const full = await answer(['audit', 'list', '--target', key_id, '--limit', `${whole.entries.length}`]);
  t.strictSame(full, { ...whole, next_cursor: null }, 'a full page that is the last');
  t.match(await run(['audit', 'list', '--action', 'nothing']), { status: 2, stdout: '' });
  t.match(entries[0].actor, { id: null, name: new RegExp(`^.+@${hostname()}$`) }, 'by whom on which machine');
});

longTest(t, 'a command that only looks tells in the audit log which ids it named, and no text', async (t) => {
  const { db, run, answer } = await operator(t);
  const workspaceId = await insertWorkspace(db);
  const { id: connection } = await insertSimulated(db, workspaceId, 'ada');
  await answer(['key', 'list', '--workspace', workspaceId]);
  await answer(['operation', 'list', '--connection', connection.toUpperCase(), '--status', 'failed']);
  await answer(['request', 'find', '--request-id', 'ada@example.test', '--workspace', workspaceId]);
  await answer(['audit', 'list', '--target', connection]);
  await answer(['erase', '--person', 'ada@example.test', '--all-workspaces']);
  await run(['operation', 'show', '--operation', UNKNOWN]);
  const { entries } = await answer(['audit', 'list']);
  const told = entries.map(({ workspace_id, targets, details }: Record<string, unknown>) => [
    details,
    workspace_id,
    targets,
  ]);
  const inWorkspace = [workspaceId, [{ kind: 'workspace', id: workspaceId }]];
  t.strictSame(told, [
    [{ command: 'erase' }, null, []],
    [{ command: 'audit list', target: connection }, null, []],
    [{ command: 'request find' }, ...inWorkspace],
    [{ command: 'operation list' }, null, [{ kind: 'connection', id: connection }]],
    [{ command: 'key list' }, ...inWorkspace],
  ]);
});

longTest(
  t,
  'who follows the audit log is in it before the first line, and goes quietly when nobody reads on',
  async (t) => {
    const { db, url, answer } = await operator(t);
    const actor = { kind: 'link' as const, id: null, name: null, address: null };
    const entry = { actor, action: 'reconnect_link.use' as const, workspaceId: null, targets: [], requestId: null };
    const follow = async (pipe: 'killed' | 'closed') => {
      const env = { PATH: process.env.PATH, DATABASE_URL: url };
      const child = spawn(process.execPath, [PROGRAM, 'audit', 'list', '--follow'], { env });
      t.teardown(() => child.kill('SIGKILL'));
      const ended = once(child, 'close');
      const [told, errors] = [[] as string[], [] as string[]];
      child.stdout.on('data', (piece) => told.push(String(piece)));
      child.stderr.on('data', (piece) => errors.push(String(piece)));
      const add = () => db.transaction((tx) => recordAudit(tx, entry));
      await eventually('a line', add, () => told.join('').includes('\n'));
      if (pipe === 'killed') child.kill('SIGKILL');
      else child.stdout.destroy();
      await eventually('its end', add, () => child.exitCode !== null || child.signalCode !== null);
      return { ended: await ended, errors: errors.join('') };
    };
    t.strictSame(await follow('killed'), { ended: [null, 'SIGKILL'], errors: '' });
    t.strictSame(await follow('closed'), { ended: [0, null], errors: '' });
    const { entries } = await answer(['audit', 'list', '--action', 'command.read']);
    t.match(entries, [{ details: { command: 'audit list' } }, { details: { command: 'audit list' } }]);
    t.equal(entries.length, 2, 'each once');
  },
);
