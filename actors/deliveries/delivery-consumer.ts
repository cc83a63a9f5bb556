import type { PgBoss } from 'pg-boss';
import type { Logger } from '../../storage/log.js';
import { queueName } from '../../storage/postgres/jobs.js';
import type { LeaseCell } from '../lease.js';
import { LIMITS } from '../limits.js';
import type { Dispatcher } from './dispatcher.js';

/**
 * Tells the dispatcher which subscriptions of a partition have something due, as its queue says (storage/delivery-queue.ts). Woken by new
 * events, at the time of a retry, when there is room again, and by the slow poll behind them all.
 */
export class DeliveryConsumer {
  #fetching = false;
  #again = false;
  #stopped = false;

  constructor(
    private readonly partition: { id: number; epoch: number },
    private readonly dispatcher: Dispatcher,
    private readonly boss: PgBoss,
    private readonly lease: LeaseCell,
    private readonly log: Logger,
  ) {}

  async wake(): Promise<void> {
    this.#again = true;
    if (this.#fetching) return;
    this.#fetching = true;
    try {
      while (this.#again && !this.#stopped && this.lease.valid) {
        this.#again = false;
        const room = Math.min(this.dispatcher.room(this.partition.id), LIMITS.fetch_jobs);
        if (room <= 0) break;
        const jobs = await this.boss.fetch(queueName('delivery', this.partition.id), { batchSize: room });
        if (this.#stopped) return; // taken jobs go back with the partition's recovery
        if (jobs.length > 0) {
          this.dispatcher.take(
            this.partition.id,
            this.partition.epoch,
            jobs.map((job) => job.id),
          );
        }
        this.#again ||= jobs.length === room;
      }
    } catch (error) {
      this.log.error(
        { err: error, partition: this.partition.id },
        'fetching deliveries failed, the slow poll tries again',
      );
    } finally {
      this.#fetching = false;
    }
  }

  stop(): void {
    this.#stopped = true;
  }
}
