import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { FaultyLink } from '../../bench/scenarios/chaos/link.js';
import { eventually } from '../fixture/eventually.js';

/** A side of a connection, with the text that it got. */
class Side {
  text = '';
  gone = false;

  constructor(readonly socket: Socket) {
    socket.setEncoding('utf8');
    socket.on('data', (chunk) => {
      this.text += chunk;
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      this.gone = true;
    });
    socket.on('end', () => socket.end());
  }

  async got(text: string): Promise<void> {
    await eventually(
      `${text} arrived`,
      () => this.text,
      (seen) => seen === text,
    );
  }

  async left(): Promise<void> {
    await eventually(
      'the side is gone',
      () => this.gone,
      (gone) => gone,
    );
  }
}

/** A server behind a link, and a way to connect through it. */
async function behindLink(t: Test) {
  const server = createServer({ allowHalfOpen: true });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const link = await FaultyLink.open((server.address() as AddressInfo).port);
  const sockets: Socket[] = [];
  t.teardown(async () => {
    for (const socket of sockets) socket.destroy();
    await link.close();
    server.close();
  });
  const open = async (): Promise<[node: Side, database: Side]> => {
    const accepted = once(server, 'connection');
    const node = connect({ port: link.port, host: '127.0.0.1', allowHalfOpen: true });
    sockets.push(node);
    const [database] = (await accepted) as [Socket];
    sockets.push(database);
    return [new Side(node), new Side(database)];
  };
  return { link, open };
}

t.test('a link passes both ways, and that a side has gone', async (t) => {
  const { open } = await behindLink(t);
  const [node, database] = await open();
  node.socket.write('select 1');
  await database.got('select 1');
  database.socket.write('1');
  await node.got('1');
  node.socket.end();
  await database.left();
  await node.left();
});

t.test('a stalled direction holds everything, the other one passes, and nothing is lost', async (t) => {
  for (const way of ['up', 'down'] as const) {
    const { link, open } = await behindLink(t);
    const [node, database] = await open();
    const [held, passing] = way === 'up' ? [node, database] : [database, node];
    link.stall(way);
    held.socket.write('held');
    passing.socket.write('passing');
    await held.got('passing');
    t.equal(passing.text, '', `${way}: held`);
    held.socket.end();
    link.pass();
    await passing.got('held');
    await passing.left();
  }
});

t.test('a connection that comes while the link stalls is stalled', async (t) => {
  const { link, open } = await behindLink(t);
  link.stall('both');
  const [node, database] = await open();
  node.socket.write('late');
  database.socket.write('answer');
  link.pass();
  await database.got('late');
  await node.got('answer');
});

t.test('a deaf link delivers what is said, loses what is answered, and is cut when it passes again', async (t) => {
  const { link, open } = await behindLink(t);
  const [node, database] = await open();
  link.deaf();
  node.socket.write('commit');
  await database.got('commit');
  database.socket.write('done');
  const [other, otherDatabase] = await open();
  otherDatabase.socket.write('lost as well');
  other.socket.write('second');
  await otherDatabase.got('second');
  link.pass();
  await node.left();
  await database.left();
  t.equal(node.text, '');
  t.equal(other.text, '');
});

t.test('a cut ends every connection at once, a refusing link every one that comes', async (t) => {
  const { link, open } = await behindLink(t);
  const [node, database] = await open();
  link.cut();
  await node.left();
  await database.left();
  const [again] = await open();
  link.refuse();
  await again.left();
  const refused = new Side(connect(link.port, '127.0.0.1'));
  await refused.left();
  link.accept();
  const [last, lastDatabase] = await open();
  last.socket.write('back');
  await lastDatabase.got('back');
  t.equal(link.connections, 1);
});
