import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { IDLE } from '../../../bench/scenarios/consoles/hour.js';
import { LIMITS } from '../../../server/http/limits.js';
import { BodyMemory } from '../../../server/http/wire/body-memory.js';
import { ConnectionCount } from '../../../server/http/wire/connection-count.js';
import type { HttpExchange } from '../../../server/http/wire/exchange.js';
import { listen } from '../../../server/http/wire/socket.js';
import { createLogger } from '../../../storage/log/log.js';
import { SCOPES, type Scope } from '../../../storage/model/records.js';
import { Overview } from '../../../storage/overview/overview.js';
import { storeStep } from '../../../storage/overview/steps.js';
import { Tally, together } from '../../../storage/overview/tally.js';
import { createKey, revokeKey } from '../../../storage/workspaces/keys.js';
import { createOperator } from '../../../storage/workspaces/operators.js';
import { eventually } from '../../fixture/eventually.js';
import { insertSimulated, insertWorkspace } from '../../fixture/rows.js';
import { type EdgeUnderTest, startTestEdge } from '../edge-fixture.js';

// Each has an edge and a database of its own and waits for the next telling.
t.jobs = 4;

const silent = createLogger({ level: 'silent', format: 'json' }, {});

async function watchedEdge(t: Test) {
  const overview = new Overview();
  const edge = await startTestEdge(t, { overview });
  const running = overview.start({
    ...{ db: edge.db, log: silent, nodeId: NODE },
    measures: () => IDLE,
  });
  t.teardown(() => running.stop());
  return { ...edge, overview };
}

const NODE = '01998000-0000-7000-8000-0000000000a1';
const OTHER_NODE = '01998000-0000-7000-8000-0000000000a2';

async function keyOf({ db }: EdgeUnderTest, workspaceId: string, scopes: readonly Scope[] = SCOPES) {
  const made = await createKey(db, { workspaceId, name: 'console', scopes, expiresAt: null });
  if (!made) throw new Error('no key');
  return made;
}

/** A page that watches: what was streamed to it, and whether its stream has ended. */
class Watching {
  text = '';
  ended = false;

  constructor(readonly socket: Socket) {
    socket.setEncoding('utf8');
    socket.on('data', (chunk) => {
      this.text += String(chunk);
      this.ended ||= this.text.endsWith('\r\n0\r\n\r\n');
    });
    socket.on('end', () => socket.end());
    socket.on('close', () => {
      this.ended = true;
    });
    socket.on('error', () => {});
  }

  /** The topics of the events so far, each event's in a list. */
  get events(): string[][] {
    return [...this.text.matchAll(/event: changed\ndata: (.*)\n\n/g)].map(([, data]) => JSON.parse(data ?? ''));
  }

  until(what: string, done: () => boolean, looks?: number): Promise<unknown> {
    return eventually(what, async () => done(), Boolean, looks);
  }
}

async function cookieOf(edge: EdgeUnderTest, key: string): Promise<string> {
  const { headers } = await edge.call('POST', '/console/session', { body: { key }, key: '' });
  return String(headers['set-cookie']).split(';')[0] ?? '';
}

async function watch(t: Test, edge: EdgeUnderTest, key: string, more: Record<string, string> = {}): Promise<Watching> {
  return open(t, edge, { Cookie: await cookieOf(edge, key), ...more });
}

async function open(t: Test, edge: EdgeUnderTest, more: Record<string, string>): Promise<Watching> {
  const socket = connect(edge.edge.port, '127.0.0.1');
  t.teardown(() => void socket.destroy());
  const lines = { Host: 'x', 'Console-Request': '1', ...more };
  const head = Object.entries(lines).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`GET /console/live HTTP/1.1\r\n${head.join('')}\r\n`);
  const watching = new Watching(socket);
  await watching.until('the stream answers', () => watching.text.includes('\r\n\r\n'));
  return watching;
}

t.test('a change is told to those who watch its workspace, and to nobody else', async (t) => {
  const edge = await watchedEdge(t);
  const stranger = await insertWorkspace(edge.db);
  const own = await watch(t, edge, (await keyOf(edge, edge.workspaceId)).key);
  const foreign = await watch(t, edge, (await keyOf(edge, stranger)).key);
  const narrow = await watch(t, edge, (await keyOf(edge, edge.workspaceId, ['events:read'])).key);
  const operator = await watch(t, edge, (await createOperator(edge.db, 'Grace', null)).key);
  t.match(own.text, /^HTTP\/1.1 200 OK\r\n/);
  t.match(own.text, /content-type: text\/event-stream; charset=utf-8\r\n/i);
  t.match(own.text, /cache-control: no-store\r\n/i);
  await own.until('it is open', () => own.text.includes('event: open'));
  const body = { provider: 'simulated', external_actor: { kind: 'person', id: 'ann' } };
  t.equal((await edge.call('POST', '/v1/connections', { body })).status, 201);
  await own.until('the change is told', () => own.events.length > 0);
  t.strictSame(own.events, [['connections', 'attention']]);
  await operator.until('the change is told to who watches all', () => operator.events.length > 0);

  edge.overview.tally.count(edge.workspaceId, 'delivered');
  edge.overview.tally.count(edge.workspaceId, 'delivered');
  await own.until('the next one', () => own.events.length > 1);
  t.strictSame(own.events[1], ['subscriptions', 'overview'], 'many of a second are one');
  await narrow.until('it is told', () => narrow.events.length > 0);
  t.strictSame(narrow.events, [['subscriptions']], 'of what its key may read');
  edge.overview.tally.count(stranger, 'failed');
  await foreign.until('its own change', () => foreign.events.length > 0);
  t.strictSame(foreign.events, [['operations', 'overview']], 'and of nothing before');
  t.equal(own.events.length, 2);
});

t.test('what a request changes is told by its route: a submission changes no connection', async (t) => {
  const edge = await watchedEdge(t);
  const { id } = await insertSimulated(edge.db, edge.workspaceId, 'ann');
  const own = await watch(t, edge, (await keyOf(edge, edge.workspaceId)).key);
  const submitted = await edge.call('POST', `/v1/connections/${id}/operations`, {
    body: { capability: 'social.identity.get', input: {} },
    headers: { 'idempotency-key': 'me' },
  });
  t.equal(submitted.status, 202);
  const body = { event_types: ['message_received'], callback_url: 'https://1.1.1.1/' };
  t.equal((await edge.call('POST', `/v1/connections/${id}/subscriptions`, { body })).status, 201);
  await own.until('the change is told', () => own.events.length > 0);
  t.strictSame(own.events, [['subscriptions', 'attention']]);
});

t.test('what other nodes have stored is told too, once', async (t) => {
  const edge = await watchedEdge(t);
  const own = await watch(t, edge, (await keyOf(edge, edge.workspaceId)).key);
  const tally = new Tally();
  tally.count(edge.workspaceId, 'unknown');
  const workspaces = tally.take();
  const step = { nodeId: OTHER_NODE, step: new Date(), workspaces, together: together(workspaces), measures: IDLE };
  await storeStep(edge.db, step);
  await own.until('the change is told', () => own.events.length > 0);
  t.strictSame(own.events, [['operations', 'overview', 'attention']]);
  tally.count(edge.workspaceId, 'delivered');
  edge.overview.tally.add(tally.take());
  await own.until('a later change', () => own.events.length > 1);
  t.strictSame(own.events[1], ['subscriptions', 'overview']);
});

t.test('a stream outlives silence, and ends with its session', async (t) => {
  const edge = await watchedEdge(t);
  const made = await keyOf(edge, edge.workspaceId);
  const own = await watch(t, edge, made.key);
  const other = await watch(t, edge, (await keyOf(edge, edge.workspaceId)).key);
  // It comes after fifteen looks of the stream for its session, a second apart and as long as each takes.
  await own.until('a comment comes', () => own.text.includes('\n:\n'), 10_000);
  t.notOk(own.ended);
  await revokeKey(edge.db, made.row.id);
  const began = performance.now();
  await own.until('it has ended', () => own.ended);
  t.comment(`${Math.round(performance.now() - began)} ms`);
  t.notOk(other.ended, 'the others go on');
  await eventually(
    'it is watched by one',
    async () => edge.overview.changes.watchers,
    (count) => count === 1,
  );
  other.socket.destroy();
  await eventually(
    'nobody watches',
    async () => edge.overview.changes.watchers,
    (count) => count === 0,
  );
});

t.test('nobody watches without a session, from another site, or one too many', async (t) => {
  const edge = await watchedEdge(t);
  t.equal((await edge.call('GET', '/console/live', { key: '' })).status, 401);
  const cookie = { cookie: `cs_console=${'x'.repeat(43)}` };
  t.equal((await edge.call('GET', '/console/live', { key: '', headers: cookie })).status, 403);
  const cookies = await cookieOf(edge, (await keyOf(edge, edge.workspaceId)).key);
  const [first] = await Promise.all(
    Array.from({ length: LIMITS.live_streams_workspace }, () => open(t, edge, { Cookie: cookies })),
  );
  t.match(first?.text, /^HTTP\/1.1 200 /);
  await eventually(
    'all of them watch',
    async () => edge.overview.changes.watchers,
    (count) => count === LIMITS.live_streams_workspace,
  );
  t.match((await open(t, edge, { Cookie: cookies })).text, /^HTTP\/1.1 503 /);
  const other = await insertWorkspace(edge.db);
  t.match(
    (await watch(t, edge, (await keyOf(edge, other)).key)).text,
    /^HTTP\/1.1 200 /,
    'another workspace finds room',
  );
  first?.socket.destroy();
  const answer = () => open(t, edge, { Cookie: cookies });
  await eventually('one that leaves makes room', answer, ({ text }) => text.startsWith('HTTP/1.1 200 '));
});

t.test('an operator who looks at a quiet workspace is told to look at the installation', async (t) => {
  const edge = await watchedEdge(t);
  const { key } = await createOperator(edge.db, 'Grace', null);
  const operator = await watch(t, edge, key, { 'Console-Workspace': edge.workspaceId });
  const own = await watch(t, edge, (await keyOf(edge, edge.workspaceId)).key);
  await operator.until('it is told', () => operator.events.length > 0);
  t.strictSame(operator.events, [['overview', 'attention']]);
  t.strictSame(own.events, []);
});

t.test('a drain ends the streams', async (t) => {
  const edge = await watchedEdge(t);
  const own = await watch(t, edge, (await keyOf(edge, edge.workspaceId)).key);
  await edge.edge.drain();
  await own.until('it has ended', () => own.ended);
  t.match(own.text, /\r\n0\r\n\r\n$/, 'as a whole answer');
});

/** Serves a stream of such pieces without end. */
async function served(t: Test, piece_bytes: number, stall_ms: number) {
  const sent = Promise.withResolvers<void>();
  const pieces = async function* () {
    for (;;) yield Buffer.from(`${'x'.repeat(piece_bytes)}\n\n`);
  };
  const server = await listen('127.0.0.1', 0, new ConnectionCount(10, silent), (exchange: HttpExchange) => {
    exchange.receive(0, new BodyMemory(0));
    const body = { bytes: null, filler: ':\n', stall_ms, pieces };
    exchange.send({ status: 200, body }, {}, false).then(sent.resolve, sent.reject);
  });
  t.teardown(() => server.close());
  const socket = connect(server.port, '127.0.0.1');
  t.teardown(() => void socket.destroy());
  socket.on('error', () => {});
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  const [head] = (await once(socket, 'data')) as [Buffer];
  t.match(head.toString('latin1'), /200 OK/);
  return { socket, sent: sent.promise };
}

t.test('a client that reads nothing is cut', async (t) => {
  const { socket, sent } = await served(t, 1_000_000, 200);
  socket.pause();
  await sent;
  socket.resume();
  await once(socket, 'close');
});

t.test('between the pieces of a stream stands what its readers pass over', async (t) => {
  const { socket } = await served(t, 3_000_000, 60_000);
  let text = '';
  for await (const chunk of socket) {
    text += (chunk as Buffer).toString('latin1');
    if (text.length > 12_000_000) break;
  }
  t.notMatch(text, /\r\n1\r\n \r\n/, 'no space of JSON');
  t.match(text, /\r\n2\r\n:\n\r\n/);
});
