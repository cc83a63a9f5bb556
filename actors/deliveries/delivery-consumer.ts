import type { FetchedSubscription, FullShares } from '../../storage/deliveries/delivery-queue.js';
import type { Logger } from '../../storage/log/log.js';
import { checkStep, type Steps } from '../../storage/process/steps.js';
import type { LeaseCell } from '../lease.js';
import type { Dispatcher } from './dispatcher.js';
import { LIMITS } from './limits.js';

export interface DeliveryConsumerOptions {
  partition: { id: number; epoch: number };
  dispatcher: Pick<Dispatcher, 'room' | 'full' | 'take'>;
  /** Fetches that many subscriptions with something due, none of what is `full`; nothing when the epoch is stale. */
  fetch: (partition: { id: number; epoch: number }, limit: number, full: FullShares) => Promise<FetchedSubscription[]>;
  lease: Pick<LeaseCell, 'valid'>;
  log: Logger;
  /** Called after each change of its state. */
  onState?: (state: ConsumerState) => void;
}

export type ConsumerState =
  | { kind: 'waiting' }
  /** `again`: woken since the fetch under way was begun. */
  | { kind: 'fetching'; again: boolean }
  | { kind: 'stopped' };

type Kind = ConsumerState['kind'];

const STEPS: Steps<Kind> = {
  waiting: ['fetching', 'stopped'],
  fetching: ['fetching', 'waiting', 'stopped'],
  stopped: [],
};

/**
 * Fetches the jobs of one partition's delivery queue, and hands their subscriptions to the dispatcher. Woken by new events, at the
 * time of a retry, when there is room again, and by the slow poll behind them all.
 *
 *     waiting ──wake()──▶ fetching ──nothing more, no room, no lease, an error──▶ waiting
 *     any ──stop()──▶ stopped
 *
 * I1 one fetch at a time; a wake meanwhile has the queue fetched once more;
 * I2 nothing is handed over once stopped: jobs fetched meanwhile go back with the partition's recovery;
 * I3 jobs fetched by a statement whose answer is lost are found by the sweep (`delivery-sweep.ts`).
 */
export class DeliveryConsumer {
  readonly #options: DeliveryConsumerOptions;
  #state: ConsumerState = { kind: 'waiting' };
  #epoch: number;

  constructor(options: DeliveryConsumerOptions) {
    this.#options = options;
    this.#epoch = options.partition.epoch;
  }

  /** Of the partition, when it was taken last. */
  get epoch(): number {
    return this.#epoch;
  }

  get stopped(): boolean {
    return this.#is('stopped');
  }

  /** This thread took the partition again under this epoch: it is fetched from under it. */
  renew(epoch: number): void {
    this.#epoch = epoch;
  }

  /** Resolves when nothing more is fetched; at once when a fetch is under way. Never rejects. */
  async wake(): Promise<void> {
    if (this.#state.kind === 'stopped') return;
    if (this.#state.kind === 'fetching') return this.#enter({ kind: 'fetching', again: true }); // I1
    this.#enter({ kind: 'fetching', again: false });
    const { log, partition } = this.#options;
    try {
      while (await this.#fetch());
    } catch (error) {
      log.error({ err: error, partition: partition.id }, 'deliveries: fetching failed, the slow poll tries again');
    }
    if (this.#is('fetching')) this.#enter({ kind: 'waiting' });
  }

  stop(): void {
    if (!this.#is('stopped')) this.#enter({ kind: 'stopped' });
  }

  /** Fetches once. True when the queue is to be fetched again. */
  async #fetch(): Promise<boolean> {
    const { partition, dispatcher, fetch, lease } = this.#options;
    if (this.#is('stopped') || !lease.valid(partition.id)) return false;
    this.#enter({ kind: 'fetching', again: false });
    const room = Math.min(dispatcher.room(partition.id), LIMITS.fetch_jobs);
    if (room <= 0) return false;
    const epoch = this.#epoch;
    const fetched = await fetch({ id: partition.id, epoch }, room, dispatcher.full(partition.id));
    if (this.#is('stopped')) return false; // I2
    if (fetched.length > 0) dispatcher.take(partition.id, this.#epoch, fetched);
    return fetched.length === room || epoch !== this.#epoch || (this.#state.kind === 'fetching' && this.#state.again);
  }

  #is(kind: Kind): boolean {
    return this.#state.kind === kind;
  }

  #enter(next: ConsumerState): void {
    checkStep('delivery consumer', STEPS, this.#state.kind, next.kind);
    this.#state = next;
    this.#options.onState?.(next);
  }
}
