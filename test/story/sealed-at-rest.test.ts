import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import t, { type Test } from 'tap';
import { Client, control, type Operation } from '../fixture/client.js';
import { eventually } from '../fixture/eventually.js';
import { serviceFixture, startService } from '../fixture/service.js';
import { longTest } from '../fixture/size.js';

/*
 * Whoever reads the tables of a stolen disk or backup, or the log at any level, finds nothing that a client or the provider wrote:
 * markers are planted through every way in, and every column of every table is read for them, and every line. Identifiers stay as they are: of connections (username,
 * `external_actor.id`), of requests (`Idempotency-Key`), of the provider's events; and the simulated network's own list of recipients.
 */

const ADMIN = fileURLToPath(new URL('../../server/admin.js', import.meta.url));
const MARKER = 'MarkerQz71';
const KEEPS = new Set(['simulated_invitation.recipient']);

/** `table.column` of everything in the database that has one of these texts, as text or as bytes. */
async function columnsWith(url: string, texts: readonly string[]): Promise<string[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows: columns } = await client.query<{ schema: string; table: string; column: string }>(
      `select n.nspname as schema, c.relname as table, a.attname as column
       from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_namespace n on n.oid = c.relnamespace
       where a.attnum > 0 and not a.attisdropped and c.relkind = 'r' and n.nspname in ('public', 'pgboss')`,
    );
    const found = new Set<string>();
    for (const { schema, table, column } of columns) {
      const { rows } = await client.query<{ text: string | null }>(
        `select "${column}"::text as text from ${schema}."${table}"`,
      );
      for (const text of texts) {
        const hex = Buffer.from(text).toString('hex');
        if (rows.some((row) => row.text?.includes(text) || row.text?.includes(hex)))
          found.add(`${table}.${column}: ${text}`);
      }
    }
    return [...found];
  } finally {
    await client.end();
  }
}

/** The texts of several words in a value: what people wrote, not ids. */
function texts(value: unknown): string[] {
  if (typeof value === 'string') return /\S{3,} \S{3,}/.test(value) ? [value] : [];
  return value && typeof value === 'object' ? Object.values(value).flatMap(texts) : [];
}

const FILE = Buffer.from(`${MARKER} in a file, which is long enough to be told from everything else`);

/** What a client says, in every capability that takes free text. */
const inputs = (recipient: string): [capability: string, input: object][] => [
  ['social.message.send', { recipient_actor_id: recipient, body: `${MARKER} body` }],
  ['social.message.send', { recipient_actor_id: recipient, body: `${MARKER} sim-unknown` }],
  ['social.invitation.send', { recipient_actor_id: recipient, message: `${MARKER} note` }],
  [
    'social.attachment.send',
    {
      ...{ recipient_actor_id: recipient, filename: `${MARKER}.txt`, content_type: 'text/plain' },
      ...{ data_base64: FILE.toString('base64'), body: `${MARKER} beside it` },
    },
  ],
  ['social.people.search', { keywords: MARKER, filters: { first_name: MARKER } }],
  ['social.jobs.search', { keywords: MARKER }],
  ['social.company.get', { company_name: MARKER }],
  ['social.typeahead', { kind: 'people', keyword: MARKER }],
  ['social.conversations.search', { keywords: MARKER }],
  ['social.profile.get', { profile_id: MARKER }],
];

/** Runs them all, and what reads the provider's texts; gives every text that came back. */
async function used(t: Test, client: Client, connection: string, recipient: string): Promise<Operation[]> {
  const operations: Operation[] = [];
  for (const [capability, input] of inputs(recipient)) operations.push(await client.run(connection, capability, input));
  for (const [capability, input] of [
    ['social.identity.get', {}],
    ['social.connections.list', { count: 5 }],
    ['social.conversations.list', {}],
    ['social.people.search', { keywords: 'engineer', count: 5 }],
    ['social.file.download', { url: 'https://files.social.test/samples/700.bin' }],
  ] as const) {
    const operation = await client.run(connection, capability, input);
    t.match(operation, { status: 'succeeded' }, capability);
    operations.push(operation);
  }
  return operations;
}

/** Sends markers where they do not belong, and where they are secrets: none of these requests succeeds but the first. */
async function misplace(client: Client, connection: string): Promise<void> {
  const account = { provider: 'social', username: 'grace+sms', password: `${MARKER} password`, region: 'us' };
  const social = await client.connect(account);
  const login = await client.run(social, 'social.login');
  const path = `/v1/operations/${login.id}`;
  const submit = { capability: 'social.message.send', input: { recipient_actor_id: 'x', body: MARKER, other: MARKER } };
  const headers = { 'User-Agent': MARKER, traceparent: MARKER, Prefer: MARKER, 'Idempotency-Key': `${MARKER} key` };
  const requests: Promise<{ status: number }>[] = [
    new Client(client.url, `cs_${MARKER}`).send('GET', path),
    client.send('POST', `${path}/challenge`, { challenge_id: login.challenge?.id ?? MARKER, code: `${MARKER}code` }),
    client.send('PATCH', `/v1/connections/${social}`, { password: [MARKER], other: MARKER }),
    client.send('GET', `/v1/operations?cursor=${MARKER}&${MARKER}=1`),
    client.send('GET', `/v1/operations/${MARKER}`),
    client.send('POST', `/v1/accounts/${MARKER}/linkedin/invite`, { hash_id: MARKER, message: MARKER }),
    client.send('POST', `/v1/connections/${connection}/operations`, submit, headers),
    client.send('POST', `/v1/connections/${connection}/subscriptions`, {
      secret: MARKER,
      callback_url: `https://${MARKER}`,
    }),
  ];
  await Promise.all(requests);
}

t.test('nothing that a client or the provider wrote stands in tables or log as it was written', async (t) => {
  const former = `former:${randomBytes(32).toString('base64')}`;
  const fixture = await serviceFixture(t, {
    ...{ ENCRYPTION_KEYS: former, CALLBACK_ALLOWED_NETWORKS: '127.0.0.1/32', LOG_LEVEL: 'trace' },
  });
  const service = await startService(t, fixture);
  const { client } = service;
  const simulated = await client.connect({ provider: 'simulated', external_actor: { kind: 'person', id: 'ada' } });
  const account = { provider: 'social', username: 'grace', password: 'sandbox', region: 'us' };
  const social = await client.connect(account);
  t.match(await client.run(social, 'social.login'), { status: 'succeeded' });
  const [person] = (await client.run(social, 'social.connections.list', { count: 1 })).result.connections as {
    hash_id: string;
  }[];
  const operations = [
    ...(await used(t, client, simulated, 'SIM_friend-1')),
    ...(await used(t, client, social, person?.hash_id ?? '')),
  ];
  const subscription = await client.send('POST', `/v1/connections/${simulated}/subscriptions`, {
    ...{ event_types: ['message_received'], callback_url: `https://127.0.0.1/${MARKER}` },
    secret: `${MARKER}, a secret of more than 32 characters`,
  });
  const rotated = await client.send('POST', `/v1/subscriptions/${subscription.body.id}/rotate-secret`);
  t.equal(rotated.status, 200);
  await client.send('POST', `/v1/subscriptions/${subscription.body.id}/rotate-secret`);
  t.match(subscription, { status: 201, body: { callback_url: `https://127.0.0.1/${MARKER}` } });
  const event = await client.send('POST', `/v1/connections/${simulated}/simulated-events`, {
    type: 'message_received',
    data: { conversation_id: MARKER, message_body: `${MARKER} event`, extra: [MARKER] },
  });
  t.equal(event.status, 201);
  await eventually(
    'it listens',
    () => client.send('GET', `/v1/connections/${social}/listener`),
    ({ body }) => body.stream_status === 'connected',
  );
  const data = { conversationId: 'streamed', body: `${MARKER} streamed` };
  await control(service.sandboxUrl, 'POST', '/stream', {
    account: 'grace',
    action: 'emit',
    type: 'message_received',
    data,
  });
  await eventually(
    'what was streamed is an event',
    () => events(client, social),
    (all) => JSON.stringify(all).includes(`${MARKER} streamed`),
  );

  await control(service.sandboxUrl, 'POST', '/faults', {
    ...{ account: 'grace', capability: 'social.attachment.send', mode: 'drop_after_commit', times: 1 },
  });
  const [capability, lost] = inputs(person?.hash_id ?? '').find(([name]) => name === 'social.attachment.send') ?? [
    '',
    {},
  ];
  const unknown = await client.run(social, capability, lost);
  const looked = await client.send('POST', `/v1/operations/${unknown.id}/reconcile`);
  t.match(looked.body, { evidence: { look: { found: 'several', matches: [{ filename: `${MARKER}.txt` }] } } });

  const written = [
    ...new Set([MARKER, String(rotated.body.secret), ...operations.flatMap(({ result }) => texts(result))]),
  ];
  t.ok(written.length > 40, `${written.length} texts`);
  const sample = Buffer.from(Array.from({ length: 64 }, (_, i) => i)).toString('latin1');
  const kept = (await columnsWith(fixture.databaseUrl, [...written, sample])).filter(
    (one) => !KEEPS.has(one.split(':')[0] as string),
  );
  t.strictSame(kept, []);

  await misplace(client, simulated);
  t.equal(await service.stop(), 0);
  const log = service.stderr();
  t.ok(log.split('\n').length > 100, 'every request has a line');
  for (const secret of [...written, fixture.key, former.split(':')[1] as string, 'cookie'])
    t.notOk(log.includes(secret), `the log has no ${secret}`);
  await longTest(t, 'all of it is sealed anew by a rotation, and read as before', async (t) => {
    const keys = `next:${randomBytes(32).toString('base64')},${former}`;
    const env = { PATH: process.env.PATH, DATABASE_URL: fixture.databaseUrl };
    const admin = async (ENCRYPTION_KEYS: string, verb: string) =>
      JSON.parse(
        (await promisify(execFile)(process.execPath, [ADMIN, 'encryption', verb], { env: { ...env, ENCRYPTION_KEYS } }))
          .stdout,
      );
    const withKeys = (ENCRYPTION_KEYS: string) =>
      startService(t, { ...fixture, env: { ...fixture.env, ENCRYPTION_KEYS } });
    const during = await withKeys(keys);
    t.match(await admin(keys, 'rotate'), { unknown: {} });
    t.equal(await during.stop(), 0);
    const only = keys.split(',')[0] as string;
    t.match(await admin(only, 'status'), { cannot_open: 0, complete: true });
    const after = await withKeys(only);
    for (const { id, result } of operations) {
      t.strictSame((await after.client.send('GET', `/v1/operations/${id}`)).body.result, result);
    }
    const found = await after.client.send('GET', `/v1/operations/${unknown.id}`);
    t.strictSame(found.body.evidence, looked.body.evidence);
    const read = await after.client.send('GET', `/v1/events/${event.body.id}`);
    t.match(read.body.data, { extra: [MARKER] });
    const shown = await after.client.send('GET', `/v1/subscriptions/${subscription.body.id}`);
    t.equal(shown.body.callback_url, subscription.body.callback_url);
  });
});

/** What the connection's events say. */
async function events(client: Client, connection: string): Promise<unknown[]> {
  const { body } = await client.send('GET', `/v1/connections/${connection}/events`);
  const details = (body.events as { id: string }[]).map(({ id }) => client.send('GET', `/v1/events/${id}`));
  return (await Promise.all(details)).map((detail) => detail.body.data);
}
