import { once } from 'node:events';
import { MessageChannel } from 'node:worker_threads';
import t from 'tap';
import type { FromHost, ToHost } from '../../../actors/messages.js';
import { HostReports } from '../../../actors/thread/host-reports.js';
import { OwnedPartitions } from '../../../actors/thread/owned-partitions.js';
import { Channel } from '../../../storage/process/channel.js';

t.test(
  'recorded events send one hint for each partition of others, and none where nothing is to be delivered',
  async (t) => {
    const { port1, port2 } = new MessageChannel();
    const [ours, node] = [new Channel<FromHost, ToHost>(port1), new Channel<ToHost, FromHost>(port2)];
    ours.onMessage(() => {});
    const told: FromHost[] = [];
    node.onMessage((message) => told.push(message));
    const owned = new OwnedPartitions(new HostReports(ours), 100);
    const event = (connection_id: string, partition: number, deliveries: number) => ({
      id: 'event',
      connection_id,
      partition,
      deliveries,
    });
    owned.recorded([
      event('ann', 1, 0),
      event('bob', 1, 1),
      event('cem', 1, 2),
      event('dan', 2, 0),
      event('eve', 3, 1),
    ]);
    const closed = once(port2, 'close');
    ours.close();
    await closed;
    const hints = ['bob', 'eve'].map((connectionId) => ({ type: 'hint', hint: { type: 'deliveries', connectionId } }));
    t.strictSame(told, hints);
  },
);
