import type { StartedDelivery } from '../../storage/deliveries/deliveries.js';
import type { Logger } from '../../storage/log/log.js';
import { checkStep, type Steps } from '../../storage/process/steps.js';
import type { CallbackAttempts } from './callback/callback-attempts.js';
import type { AttemptResult } from './callback/sender.js';
import type { DeliveryBatches } from './delivery-batches.js';
import type { SubscriptionActor } from './schedule/subscription-actor.js';

/** What all attempts of a thread use. */
export interface AttemptContext {
  batches: DeliveryBatches;
  callbacks: CallbackAttempts;
  log: Logger;
}

/** `over`: nothing of it is left to do, whether it was made or not. */
type AttemptState =
  | { kind: 'starting' }
  | { kind: 'sending' }
  | { kind: 'finishing'; delivery: StartedDelivery; result: AttemptResult }
  | { kind: 'over' };

type Kind = AttemptState['kind'];

const STEPS: Steps<Kind> = {
  starting: ['sending', 'over'],
  sending: ['finishing', 'over'],
  finishing: ['over'],
  over: [],
};

/**
 * One attempt for a subscription, in the slot it was given:
 *
 *     starting ──its start is written──▶ sending ──its receiver answered, or the deadline──▶ finishing ──its end is written──▶ over
 *         └──nothing is due, the epoch is stale, or the partition is lost──▶ over
 *                                            └──this node lacks the key of its secret: put off──▶ over
 *
 * I1 a callback is sent only after its start was written under a valid epoch;
 * I2 what was sent is finished with one write.
 */
export class DeliveryAttempt {
  readonly #actor: SubscriptionActor;
  readonly #context: AttemptContext;
  #state: AttemptState = { kind: 'starting' };

  constructor(actor: SubscriptionActor, context: AttemptContext) {
    this.#actor = actor;
    this.#context = context;
  }

  /**
   * Starts the delivery of the subscription that has been due the longest, and sends its callback. `calls` is what the actor's `begin` returned.
   * Resolves when the slot is free, with the result of what was sent. Never rejects.
   */
  async send(calls: number): Promise<AttemptResult | undefined> {
    const delivery = await this.#start(calls);
    if (!delivery || this.#actor.state === 'lost') {
      if (delivery) this.#context.batches.drop(delivery.attempt_id);
      this.#enter({ kind: 'over' });
      return undefined;
    }
    this.#enter({ kind: 'sending' }); // I1
    const result = await this.#context.callbacks.make(delivery);
    if (result) this.#enter({ kind: 'finishing', delivery, result });
    else await this.#putOff(delivery);
    return result;
  }

  /** Writes the end of what was sent, if anything was. Never rejects: an end that cannot be written is left to the partition's recovery. */
  async finish(): Promise<void> {
    if (this.#state.kind !== 'finishing') return;
    const { delivery, result } = this.#state;
    const { batches, callbacks, log } = this.#context;
    const { id, epoch, attempt_id: attemptId } = delivery;
    const { outcome, status_code: statusCode, error } = result;
    try {
      const finished = await batches.finish({ id, epoch, attemptId, outcome, statusCode, error }); // I2
      const status = finished?.status;
      switch (status) {
        case 'failed':
          callbacks.gaveUp(delivery, result);
          break;
        case 'delivered':
        case 'pending':
        case 'canceled':
        case 'locked': // finished again until it is not
        case undefined: // no longer held: nothing was written
          break;
        default:
          status satisfies never;
      }
    } catch (error) {
      const ids = { delivery_id: id, subscription_id: this.#actor.id };
      log.error({ err: error, ...ids }, 'deliveries: the end of an attempt was not written');
    }
    this.#enter({ kind: 'over' });
  }

  /** Nothing was sent: another node may have the key, or this one after its next start. */
  async #putOff(started: StartedDelivery): Promise<void> {
    // It rejects only while draining: then the partition's recovery makes the delivery due.
    await this.#context.batches.putOff(started).catch(() => {});
    this.#enter({ kind: 'over' });
  }

  async #start(calls: number): Promise<StartedDelivery | undefined> {
    try {
      const delivery = await this.#context.batches.start(this.#actor);
      if (!delivery) this.#actor.exhausted(calls);
      return delivery;
    } catch {
      return undefined; // only while draining: what was not started is left to the next owner
    }
  }

  #enter(next: AttemptState): void {
    checkStep('delivery attempt', STEPS, this.#state.kind, next.kind);
    this.#state = next;
  }
}
