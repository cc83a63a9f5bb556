import { reasonOf } from '../../storage/log/outages.js';
import type { OwnedPartition } from '../../storage/partitions/partitions.js';
import type { OutageEvents } from '../../storage/postgres/reachability.js';
import type { Channel } from '../../storage/process/channel.js';
import type { FromHost, ToHost } from '../messages.js';
import type { Hint } from '../system.js';

/** What the parts of a thread send to the main thread while they work. */
export class HostReports {
  readonly #channel: Channel<FromHost, ToHost>;
  #awaitable: string[] = [];

  constructor(channel: Channel<FromHost, ToHost>) {
    this.#channel = channel;
  }

  /** Sends a hint to the owner of a partition that is not here. */
  forward(hint: Hint): void {
    this.#channel.send({ type: 'hint', hint });
  }

  /** Asks for the partition to be taken again, but for the operations in hand. */
  reconcile({ id, epoch }: OwnedPartition, inHand: string[]): void {
    this.#channel.send({ type: 'reconcile', partition: id, epoch, inHand });
  }

  /** What the thread's pool tells of the database. */
  get outage(): OutageEvents {
    const tell = (lost: string | undefined) => this.#channel.send({ type: 'database', lost });
    return { began: (error) => tell(reasonOf(error)), ended: () => tell(undefined) };
  }

  /** The operation became terminal or waits for its user. Those of one turn of the event loop leave in one message. */
  awaitable(operationId: string): void {
    if (this.#awaitable.push(operationId) > 1) return;
    setImmediate(() => this.#channel.send({ type: 'awaitable', operationIds: this.#awaitable.splice(0) }));
  }
}
