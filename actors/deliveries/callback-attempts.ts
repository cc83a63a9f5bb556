import type { StartedDelivery } from '../../storage/deliveries/deliveries.js';
import type { Logger } from '../../storage/log.js';
import type { KeyRing } from '../../storage/secrets/encryption.js';
import { CallbackBodies } from './callback-body.js';
import { AttemptCounters } from './counters.js';
import { type AttemptResult, Sender, type SenderOptions } from './sender.js';
import { callbackHeaders } from './signature.js';

export interface AttemptOptions extends SenderOptions {
  /** Opens the secrets of subscriptions. */
  ring: KeyRing;
  log: Logger;
  /** What attempts are signed and retries scheduled by. */
  clock: { now(): Date };
}

const told = (delivery: StartedDelivery, result: AttemptResult) => ({
  delivery_id: delivery.id,
  subscription_id: delivery.subscription_id,
  event_id: delivery.event_id,
  // A callback that is no URL is blocked like any other that may not be called, and has no origin.
  origin: URL.canParse(delivery.callback_url) ? new URL(delivery.callback_url).origin : null,
  attempt: delivery.attempt_count,
  error: result.error,
  status_code: result.status_code,
  duration_ms: Math.round(result.duration_ms),
});

/**
 * Makes one attempt of a delivery that was started: body, secrets, signature, request; counted, and logged when it failed. A log
 * line tells where the callback went by its origin: what it carried, and a path that may be a secret of its own, stay out. The secrets came with the start, so a rotation holds from the next attempt on.
 */
export class CallbackAttempts {
  readonly counters = new AttemptCounters();
  readonly #bodies = new CallbackBodies();
  readonly #sender: Sender;

  constructor(private readonly options: AttemptOptions) {
    this.#sender = new Sender(options);
  }

  /** Never rejects, and answers by the deadline of one attempt. */
  async make(delivery: StartedDelivery): Promise<AttemptResult> {
    const result = await this.#send(delivery).catch((error: unknown): AttemptResult => {
      // Left to the dispatcher, the delivery would stay `sending` until its partition is recovered.
      this.options.log.error({ err: error, delivery_id: delivery.id }, 'an attempt broke');
      return { outcome: 'failed', status_code: null, error: 'internal', duration_ms: 0 };
    });
    this.counters.count(result, this.options.clock.now().getTime() - delivery.received_at.getTime());
    if (result.outcome === 'failed') this.options.log.debug(told(delivery, result), 'delivery attempt failed');
    return result;
  }

  /** The delivery is `failed`: this was the last attempt of its series. */
  gaveUp(delivery: StartedDelivery, result: AttemptResult): void {
    this.options.log.warn(told(delivery, result), 'delivery failed');
  }

  /** Closes every connection. */
  destroy(): Promise<void> {
    return this.#sender.destroy();
  }

  async #send(delivery: StartedDelivery): Promise<AttemptResult> {
    const at = this.options.clock.now();
    const secrets = this.#openSecrets(delivery, at);
    if (!secrets) return { outcome: 'failed', status_code: null, error: 'secret', duration_ms: 0 };
    const body = this.#bodies.hold(delivery);
    try {
      const headers = callbackHeaders({ eventId: delivery.event_id, deliveryId: delivery.id, body, at, secrets });
      return await this.#sender.send(delivery.callback_url, headers, body);
    } finally {
      this.#bodies.release(delivery.event_id);
    }
  }

  /** The secrets that sign now, the newest first (EVT-12); undefined when the key ring cannot open them. */
  #openSecrets(delivery: StartedDelivery, at: Date): string[] | undefined {
    const context = `subscription/${delivery.subscription_id}/secret`;
    const { secret_sealed, previous_secret_sealed, previous_valid_until } = delivery;
    const sealed = [secret_sealed];
    if (previous_secret_sealed && previous_valid_until && previous_valid_until > at)
      sealed.push(previous_secret_sealed);
    try {
      return sealed.map((secret) => this.options.ring.open(secret, context).toString('utf8'));
    } catch {
      return undefined;
    }
  }
}
