import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import t from 'tap';
import { acceptedAt, useOf } from '../../bench/kit/process-use.js';
import { eventually } from '../fixture/eventually.js';

t.test('a connection is a handle of the process, and is counted at the port that accepted it', async (t) => {
  const server = createServer((socket) => socket.resume().on('error', () => {})).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  t.equal(acceptedAt(port), 0);
  const before = useOf(process.pid)?.handles ?? Number.NaN;

  const sockets = Array.from({ length: 5 }, () => connect(port, '127.0.0.1').on('error', () => {}));
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  await eventually(
    'all are accepted, each counted once and not at its other end',
    () => acceptedAt(port),
    (open) => open === 5,
  );
  t.ok((useOf(process.pid)?.handles ?? 0) > before + 5, 'and both ends are handles of this process');

  for (const socket of sockets) socket.end();
  await eventually(
    'none is open',
    () => acceptedAt(port),
    (open) => open === 0,
  );
});

t.test('of a process that has ended nothing is known', async (t) => {
  t.equal(useOf(2 ** 22 + 1), undefined);
});
