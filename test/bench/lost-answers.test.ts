import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import t from 'tap';
import { NodesClient } from '../../bench/scenarios/chaos/load/client.js';

/** A node that does this with each connection that sends something. */
async function node(onData: (socket: Socket) => void) {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => onData(socket));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

t.test('a client tells a refused connection from a lost one and from an answer that does not come', async (t) => {
  const gone = await node(() => {});
  gone.server.close();
  await once(gone.server, 'close');
  const resets = await node((socket) => socket.resetAndDestroy());
  const ends = await node((socket) => socket.end());
  const halves = await node((socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{"id"'));
  const waits = await node(() => {});
  const nodes = [gone, resets, ends, halves, waits];
  const client = new NodesClient(
    nodes.map(({ url }) => url),
    'key',
  );
  t.teardown(async () => {
    await client.close();
    for (const { server } of nodes) server.close();
  });
  const told = await Promise.all(
    nodes.map((_, number) => client.send(number, 'POST', '/', { body: {}, within_ms: number === 4 ? 200 : 8_000 })),
  );
  t.same(
    told.map(({ status, lost }) => [status, lost]),
    [
      [0, 'refused'],
      [0, 'reset'],
      [0, 'reset'],
      [0, 'reset'],
      [0, 'late'],
    ],
  );
});
