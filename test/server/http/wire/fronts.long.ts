import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { connect as connectTls } from 'node:tls';
import t, { type Test } from 'tap';
import { Agent, request } from 'undici';
import { mapConcurrent } from '../../../../bench/kit/map-concurrent.js';
import { SCOPES } from '../../../../storage/model/records.js';
import { Deadline } from '../../../../storage/process/deadline.js';
import { createKey } from '../../../../storage/workspaces/keys.js';
import { FRONTS, type Front, type FrontName, frontFiles, startFront } from '../../../fixture/fronts.js';
import { insertSimulated } from '../../../fixture/rows.js';
import { sized } from '../../../fixture/size.js';
import { type EdgeUnderTest, startTestEdge } from '../../edge-fixture.js';
import { requestsIn } from './sent-requests.js';
import { marked, markedShapes, startWitness } from './witness.js';

/** Longer than any wait for more of a request that the examples allow. */
const CLOSED_ms = 20_000;

/** What a front sends, connection by connection, on its way to the service. */
async function startRelay(t: Test, port: number): Promise<{ port: number; sent: () => string[] }> {
  const sent: Buffer[][] = [];
  const server = createServer((front) => {
    const chunks: Buffer[] = [];
    sent.push(chunks);
    const service = connect(port, '127.0.0.1');
    front.on('data', (chunk) => chunks.push(chunk));
    front.on('error', () => service.destroy()).on('close', () => service.destroy());
    service.on('error', () => front.destroy()).on('close', () => front.destroy());
    front.pipe(service).pipe(front);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  return {
    port: (server.address() as AddressInfo).port,
    sent: () => sent.map((chunks) => Buffer.concat(chunks).toString('latin1')),
  };
}

/** Sends bytes through the front on a connection of their own; resolves when the front closes it, which it has to. */
async function exchanged(front: Front, bytes: string): Promise<void> {
  const socket = connectTls({ port: front.port, host: '127.0.0.1', rejectUnauthorized: false });
  socket.on('error', () => {});
  socket.resume();
  const closed = Promise.withResolvers<void>();
  socket.once('close', () => closed.resolve());
  socket.once('secureConnect', () => socket.write(Buffer.from(bytes, 'latin1')));
  try {
    await Deadline.within(CLOSED_ms, closed.promise);
  } finally {
    socket.destroy();
  }
}

/** Another client of the same front, whose answers have to be its own. */
async function neighbour(t: Test, front: Front, edge: EdgeUnderTest, ids: string[], name: string): Promise<void> {
  const agent = new Agent({ connect: { rejectUnauthorized: false }, connections: 1 });
  try {
    for (const [turn, id] of ids.entries()) {
      const mark = `${name}-${turn}`;
      const { statusCode, headers, body } = await request(`https://127.0.0.1:${front.port}/v1/connections/${id}`, {
        dispatcher: agent,
        headers: { authorization: `Bearer ${edge.key}`, 'x-request-id': mark },
      });
      const answer = (await body.json()) as { id?: string };
      t.strictSame([statusCode, headers['x-request-id'], answer.id], [200, mark, id], `${name}: its own answer`);
    }
  } finally {
    await agent.close();
  }
}

async function tryAll(t: Test, name: FrontName, files: string): Promise<void> {
  const { edge, ran } = await startWitness(t);
  const relay = await startRelay(t, edge.edge.port);
  const front = await startFront(t, name, files, relay.port);
  const names = ['ann', 'ben', 'cleo'];
  const ids = await Promise.all(names.map(async (one) => (await insertSimulated(edge.db, edge.workspaceId, one)).id));
  // Without a front all of them are tried every time, by `smuggling.test.ts`.
  const all = markedShapes(edge).filter((_, number) => number % sized(12, 1) === 0);
  await mapConcurrent(all.entries(), async ([number, { what, bytes }]) => {
    const closed = await exchanged(front, bytes).then(
      () => true,
      () => false,
    );
    t.equal(closed, true, `${what}: the connection is closed in the end`);
    await neighbour(t, front, edge, ids, `neighbour-${number}`);
  });
  await front.stop();

  const sent = relay.sent().map(requestsIn);
  t.same(
    sent.flatMap(({ unclear }) => unclear ?? []),
    [],
    'what the front sends can be read in one way only',
  );
  const whole = marked(sent.flatMap(({ requests }) => requests));
  const brokenOff = marked(sent.flatMap((one) => one.brokenOff ?? []));
  t.same(
    marked(ran).filter((line) => !brokenOff.includes(line)),
    whole,
    'the service has run what the front has sent, each once, and nothing else',
  );
  t.equal(whole.filter((line) => line.includes('neighbour-')).length, all.length * ids.length);
  t.ok(
    whole.some((line) => line.includes('first-')),
    'some of the shapes are let through',
  );
}

/** A request's status with a key, from loopback, that claims to come from elsewhere. */
async function claiming(front: Front, key: string, claims: string[]): Promise<number> {
  const agent = new Agent({ connect: { rejectUnauthorized: false } });
  try {
    const { statusCode, headers, body } = await request(`https://127.0.0.1:${front.port}/v1/connections`, {
      dispatcher: agent,
      headers: [
        ...['authorization', `Bearer ${key}`],
        ...claims.flatMap((claim) => ['X-Forwarded-For', claim]),
        ...['Forwarded', 'for=192.0.2.7', 'X-Real-IP', '192.0.2.7'],
      ],
    });
    await body.dump();
    if (headers['strict-transport-security'] !== 'max-age=31536000') throw new Error('no HSTS');
    return statusCode;
  } finally {
    await agent.close();
  }
}

async function forge(t: Test, name: FrontName, files: string): Promise<void> {
  const edge = await startTestEdge(t, { trustedProxies: ['127.0.0.0/8'] });
  const front = await startFront(t, name, files, edge.edge.port);
  const boundTo = async (network: string) => {
    const made = await createKey(edge.db, {
      workspaceId: edge.workspaceId,
      name: network,
      scopes: SCOPES,
      networks: [network],
      expiresAt: null,
    });
    return made?.key ?? '';
  };
  const [elsewhere, here] = await Promise.all(['192.0.2.0/24', '127.0.0.0/8'].map(boundTo));
  for (const claims of [[], ['192.0.2.7'], ['192.0.2.7, 127.0.0.1'], ['192.0.2.7', '192.0.2.7']]) {
    const said = `${claims.length} headers (${claims[0] ?? ''})`;
    t.equal(await claiming(front, elsewhere!, claims), 403, `${said}: a key of another network`);
    t.equal(await claiming(front, here!, claims), 200, `${said}: a key of the client's network`);
  }
}

for (const name of FRONTS) {
  const files = await frontFiles(name);
  const skip = 'missing' in files ? files.missing : false;
  t.test(`behind ${name} nobody comes from where a header says`, { skip }, async (t) => {
    if ('folder' in files) await forge(t, name, files.folder);
  });
  t.test(`behind ${name} no request is run that it did not send as one`, { skip }, async (t) => {
    if ('folder' in files) await tryAll(t, name, files.folder);
  });
}
