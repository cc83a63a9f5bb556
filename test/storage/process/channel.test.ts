import { once } from 'node:events';
import { MessageChannel, Worker } from 'node:worker_threads';
import t from 'tap';
import { Channel } from '../../../storage/process/channel.js';

interface Ping {
  type: 'ping';
  n: number;
}

function pair(backlogLimit?: number) {
  const { port1, port2 } = new MessageChannel();
  const near = new Channel<Ping, Ping>(port1, backlogLimit);
  const far = new Channel<Ping, Ping>(port2, backlogLimit);
  return { near, far, port1, port2 };
}

t.test('messages of one turn travel in one envelope and arrive in order', async (t) => {
  const { near, far, port2 } = pair();
  let envelopes = 0;
  port2.on('message', () => {
    envelopes += 1;
  });
  const received: number[] = [];
  const all = new Promise<void>((resolve) => {
    far.onMessage((message) => {
      received.push(message.n);
      if (received.length === 500) resolve();
    });
  });
  for (let n = 0; n < 500; n++) near.send({ type: 'ping', n });
  await all;
  t.equal(envelopes, 1);
  t.same(
    received,
    Array.from({ length: 500 }, (_, n) => n),
  );
  near.close();
});

t.test('a full backlog is refused, and drains once the other side takes its messages', async (t) => {
  const { near, far } = pair(3);
  near.onMessage(() => {});
  t.ok(near.send({ type: 'ping', n: 1 }));
  t.ok(near.send({ type: 'ping', n: 2 }));
  t.ok(near.send({ type: 'ping', n: 3 }));
  t.notOk(near.send({ type: 'ping', n: 4 }), 'the fourth is refused');
  t.equal(near.backlog, 3);
  const answered = new Promise<void>((resolve) => near.onClose(resolve));
  let taken = 0;
  far.onMessage(() => {
    taken += 1;
    if (taken === 3) setImmediate(() => setImmediate(() => far.close()));
  });
  await answered;
  t.equal(taken, 3);
  t.equal(near.backlog, 0, 'the other side said that it took them');
});

t.test('a message is cloned, even within one thread', async (t) => {
  const { near, far } = pair();
  const sent: Ping = { type: 'ping', n: 1 };
  const arrived = new Promise<Ping>((resolve) => far.onMessage(resolve));
  near.send(sent);
  const received = await arrived;
  t.same(received, sent);
  t.not(received, sent);
  near.close();
});

t.test('what was sent before close still arrives, and both ends learn of the close', async (t) => {
  const { near, far } = pair();
  const received: number[] = [];
  far.onMessage((message) => received.push(message.n));
  const closed = Promise.all([
    new Promise<void>((resolve) => near.onClose(resolve)),
    new Promise<void>((resolve) => far.onClose(resolve)),
  ]);
  near.send({ type: 'ping', n: 7 });
  near.close();
  await closed;
  t.same(received, [7]);
  t.notOk(near.send({ type: 'ping', n: 8 }));
});

t.test('a thread that dies closes the channel', async (t) => {
  const { port1, port2 } = new MessageChannel();
  const near = new Channel<Ping, Ping>(port1);
  near.onMessage(() => {});
  const closed = new Promise<void>((resolve) => near.onClose(resolve));
  const worker = new Worker('require("node:worker_threads").workerData.on("message", () => process.exit(3))', {
    eval: true,
    workerData: port2,
    transferList: [port2],
  });
  const exited = once(worker, 'exit');
  near.send({ type: 'ping', n: 1 });
  await closed;
  await exited;
  t.ok(near.closed);
});
