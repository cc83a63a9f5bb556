import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { mock } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { Client, request } from 'undici';
import type { SubmitOutcome } from '../../../actors/system.js';
import type { MadeBody } from '../../../server/http/answer.js';
import { LIMITS } from '../../../server/http/limits.js';
import { BodyMemory } from '../../../server/http/wire/body-memory.js';
import { ConnectionCount } from '../../../server/http/wire/connection-count.js';
import type { HttpExchange } from '../../../server/http/wire/exchange.js';
import { listen } from '../../../server/http/wire/socket.js';
import { createLogger } from '../../../storage/log/log.js';
import { DataVault } from '../../../storage/secrets/data-vault.js';
import { keyRing } from '../../../storage/secrets/encryption.js';
import { freshDatabase } from '../../fixture/database.js';
import { eventually } from '../../fixture/eventually.js';
import { stall } from '../../fixture/measures.js';
import { insertSimulated } from '../../fixture/rows.js';
import { startTestEdge } from '../edge-fixture.js';

const DECODERS: Record<string, (bytes: Buffer) => Buffer> = {
  br: brotliDecompressSync,
  gzip: gunzipSync,
  none: (bytes) => bytes,
};

/** The bytes of a body as they were sent, with what says how they are encoded. */
async function fixedBody(url: string, accepted: string, known = '') {
  const { statusCode, headers, body } = await request(url, {
    headers: { ...(accepted && { 'accept-encoding': accepted }), ...(known && { 'if-none-match': known }) },
  });
  const bytes = Buffer.from(await body.arrayBuffer());
  const encoding = String(headers['content-encoding'] ?? 'none');
  return { status: statusCode, etag: String(headers.etag), vary: headers.vary, encoding, bytes };
}

t.test('a body that does not change is sent in the best encoding that its client takes', async (t) => {
  const { url } = await startTestEdge(t);
  for (const path of ['/openapi.json', '/docs/viewer.js', '/docs', '/console']) {
    const plain = await fixedBody(url + path, '');
    t.match(plain, { status: 200, encoding: 'none', vary: 'Accept-Encoding' }, path);
    const etags = new Set([plain.etag]);
    for (const [accepted, encoding] of [
      ['gzip, deflate, br, zstd', 'br'],
      ['GZIP;q=0.5', 'gzip'],
      ['br;q=0, gzip;q=1.0', 'gzip'],
    ] as const) {
      const sent = await fixedBody(url + path, accepted);
      t.equal(sent.encoding, encoding, `${path} for ${accepted}`);
      t.ok(DECODERS[encoding]!(sent.bytes).equals(plain.bytes), 'the same content');
      t.match(await fixedBody(url + path, accepted, sent.etag), { status: 304, etag: sent.etag });
      t.match(
        await fixedBody(url + path, accepted, `W/${sent.etag}, "x"`),
        { status: 304 },
        'as a front may weaken it',
      );
      etags.add(sent.etag);
    }
    t.equal(etags.size, 3, 'each encoding has its own ETag');
    t.equal((await fixedBody(url + path, 'identity, *;q=0')).encoding, 'none');
    const { headers, body } = await request(url + path, { method: 'HEAD' });
    t.equal(await body.text(), '');
    t.equal(headers['content-length'], String(plain.bytes.length), 'HEAD tells the length of what GET sends');
  }
});

/** A workspace that may ask twice a second and has not asked yet, with a link of a connection of it. */
async function limited(t: Test) {
  const ring = keyRing([{ id: 'k1', key: randomBytes(32) }]);
  const vault = new DataVault(ring);
  vault.hashUnder(randomBytes(32));
  const options = { ring, publicUrl: 'https://service.test', limits: { requests_per_second: 2 } };
  const edge = await startTestEdge(t, options, (await freshDatabase(t, vault)).db);
  const { id } = await insertSimulated(edge.db, edge.workspaceId, 'ada');
  const issued = await eventually(
    'a link is issued',
    () => edge.call('POST', `/v1/connections/${id}/reconnect-link`),
    ({ status }) => status === 201,
  );
  return { ...edge, token: new URL(String(issued.json.url)).hash.slice(1) };
}

/** The statuses of ten requests that come at once. */
const tenOf = async (ask: () => Promise<{ status: number }>) =>
  (await Promise.all(Array.from({ length: 10 }, ask))).map(({ status }) => status);

t.test('requests about a link and a session count in the rates of their workspace', async (t) => {
  const { call, key, token } = await limited(t);
  const open = () => call('POST', '/reconnect/open', { key: '', body: { token } });
  const opened = await tenOf(open);
  t.ok(opened.filter((status) => status === 429).length >= 6, opened.join());
  t.match(await eventually('it is let in again', open, ({ status }) => status === 200), {
    headers: { 'ratelimit-policy': '"requests";q=2;w=1' },
  });
  const signIn = await call('POST', '/console/session', {
    key: '',
    body: { key },
    headers: { 'console-request': '1' },
  });
  const cookie = String(signIn.headers['set-cookie']).split(';')[0]!;
  const session = () => call('GET', '/console/session', { key: '', headers: { cookie, 'console-request': '1' } });
  const asked = await tenOf(session);
  t.ok(asked.filter((status) => status === 429).length >= 6, asked.join());
  const unknown = await tenOf(() => call('POST', '/reconnect/open', { key: '', body: { token: 'x'.repeat(64) } }));
  t.strictSame(new Set(unknown), new Set([404]), 'a link that nobody issued counts nowhere');
});

t.test('a thread that is behind refuses what needs no key as well, but for probes', async (t) => {
  const edge = await startTestEdge(t);
  const { id } = await insertSimulated(edge.db, edge.workspaceId, 'ada');
  const held = Promise.withResolvers<SubmitOutcome>();
  const all = Promise.withResolvers<void>();
  let asked = 0;
  edge.system.submit = () => {
    if (++asked === LIMITS.busy_requests + 1) all.resolve();
    return held.promise;
  };
  const body = { capability: 'social.profile.get', input: { profile_id: 'bob' } };
  const submissions = Array.from({ length: LIMITS.busy_requests + 1 }, (_, n) =>
    edge.call('POST', `/v1/connections/${id}/operations`, { body, headers: { 'idempotency-key': `${n}` } }),
  );
  await all.promise;
  /** The answer of a thread that has just been late, on a connection that is open: one that is made first takes its time. */
  const whenLate = async (path: string) => {
    const client = new Client(edge.url);
    const get = async (path: string) => {
      const { statusCode, body } = await client.request({ method: 'GET', path });
      await body.dump();
      return statusCode;
    };
    await get('/livez');
    const status = get(path);
    setImmediate(() => stall(LIMITS.late_ms * 3));
    return status.finally(() => client.close());
  };
  for (const path of ['/docs', '/openapi.json', '/console/session', '/nowhere'])
    await eventually(
      `${path} is refused`,
      () => whenLate(path),
      (status) => status === 503,
      20,
    );
  for (const path of ['/healthz', '/livez']) for (let n = 0; n < 3; n++) t.equal(await whenLate(path), 200, path);
  held.resolve({ kind: 'draining' });
  await Promise.all(submissions);
});

t.test('a large body goes to so many strangers at once', async (t) => {
  const edge = await startTestEdge(t);
  const viewer = `${edge.url}/docs/viewer.js`;
  const { length } = (await fixedBody(viewer, '')).bytes;
  const room = Math.floor(LIMITS.workspace_answer_bytes / length);
  const asked = await Promise.all(Array.from({ length: 4 * room }, () => fixedBody(viewer, '')));
  const sent = asked.filter(({ status }) => status === 200);
  t.ok(sent.length >= room && sent.length < asked.length, `${sent.length} of ${asked.length}`);
  t.ok(
    sent.every(({ bytes }) => bytes.length === length),
    'and whole',
  );
  t.strictSame(new Set(asked.map(({ status }) => status)), new Set([200, 503]));
  t.equal((await fixedBody(`${edge.url}/docs`, '')).status, 200, 'what is small is sent');
  t.equal((await fixedBody(viewer, '')).status, 200, 'there is room again');
});

t.test('who takes too little of a large body that needs no key is cut, whatever it took before', async (t) => {
  mock.timers.enable({ apis: ['setInterval'] });
  t.teardown(() => mock.timers.reset());
  const [asked, gone] = [Promise.withResolvers<HttpExchange>(), Promise.withResolvers<boolean>()];
  const bytes = 64 * 2 ** 20; // more than sockets hold
  const body: MadeBody = {
    ...{ bytes, hurried: true },
    async *pieces() {
      for (let at = 0; at < bytes; at += 2 ** 20) yield Buffer.alloc(2 ** 20);
    },
  };
  const count = new ConnectionCount(10, createLogger({ level: 'silent', format: 'json' }, {}));
  const listening = await listen('127.0.0.1', 0, count, async (exchange) => {
    exchange.receive(0, new BodyMemory(Number.POSITIVE_INFINITY));
    asked.resolve(exchange);
    await exchange.send({ status: 200, body }, {}, false);
    gone.resolve(exchange.aborted);
  });
  t.teardown(() => listening.close());
  const socket = connect(listening.port, '127.0.0.1').on('error', () => {});
  t.teardown(() => socket.destroy());
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  const exchange = await asked.promise;
  while (socket.bytesRead < 2 * LIMITS.slow_reader_bytes) await once(socket, 'data');
  socket.pause();
  mock.timers.tick(LIMITS.slow_reader_ms);
  t.notOk(exchange.aborted, 'it has taken enough');
  const looked = () => {
    mock.timers.tick(LIMITS.slow_reader_ms);
    return exchange.aborted;
  };
  await eventually('it takes no more, and is cut', looked, Boolean, 20); // before the library cuts it
  t.equal(await gone.promise, true);
});
