import type { StartedDelivery } from '../../storage/deliveries/deliveries.js';
import type { Logger } from '../../storage/log.js';
import { type KeyRing, KeyUnknown } from '../../storage/secrets/encryption.js';
import type { AttemptError } from './attempt-error.js';
import { CallbackBodies } from './callback-body.js';
import { AttemptCounters } from './counters.js';
import { type AttemptResult, Sender, type SenderOptions } from './sender.js';
import { callbackHeaders } from './signature.js';

export interface AttemptOptions extends SenderOptions {
  /** Opens the secrets of subscriptions. */
  ring: KeyRing;
  log: Logger;
}

const logFields = (delivery: StartedDelivery, result: AttemptResult) => ({
  delivery_id: delivery.id,
  subscription_id: delivery.subscription_id,
  event_id: delivery.event_id,
  // A callback that is no URL is blocked as `invalid` and has no origin.
  origin: URL.canParse(delivery.callback_url) ? new URL(delivery.callback_url).origin : null,
  attempt: delivery.attempt_count,
  error: result.error,
  status_code: result.status_code,
  duration_ms: Math.round(result.duration_ms),
});

const notSent = (error: AttemptError): AttemptResult => ({
  outcome: 'failed',
  status_code: null,
  error,
  duration_ms: 0,
});

/**
 * Makes one attempt of a delivery that was started: body, secrets, signature, request; counted, and logged when it failed. Of the
 * callback a log line holds only the origin: the body, and a path that may be a secret itself, are left out. The secrets came
 * with the start, so a rotation applies from the next attempt on.
 */
export class CallbackAttempts {
  readonly counters = new AttemptCounters();
  readonly #options: AttemptOptions;
  readonly #bodies = new CallbackBodies();
  readonly #sender: Sender;

  constructor(options: AttemptOptions) {
    this.#options = options;
    this.#sender = new Sender(options);
  }

  /** Never rejects, and resolves by the deadline of one attempt; with nothing when this node lacks the key of its secret. */
  async make(delivery: StartedDelivery): Promise<AttemptResult | undefined> {
    const { log } = this.#options;
    const result = await this.#send(delivery).catch((error: unknown) => {
      if (error instanceof KeyUnknown) {
        log.warn(
          { delivery_id: delivery.id, key: error.keyId },
          'a delivery waits: this node lacks the key of its secret',
        );
        return undefined;
      }
      // If this rejected, the delivery would stay `sending` until its partition is recovered.
      log.error({ err: error, delivery_id: delivery.id }, 'an attempt broke');
      return notSent('internal');
    });
    if (!result) return undefined;
    const since_ms = delivery.started_at.getTime() - delivery.received_at.getTime() + result.duration_ms;
    this.counters.count(result, since_ms);
    if (result.outcome === 'failed') log.debug(logFields(delivery, result), 'delivery attempt failed');
    return result;
  }

  /** Logs that the delivery is `failed`: this was the last attempt of its series. */
  gaveUp(delivery: StartedDelivery, result: AttemptResult): void {
    this.#options.log.warn(logFields(delivery, result), 'delivery failed');
  }

  /** Closes every connection. */
  destroy(): Promise<void> {
    return this.#sender.destroy();
  }

  async #send(delivery: StartedDelivery): Promise<AttemptResult> {
    // By the database's clock, as it was told with the start: of a node that is minutes off, receivers would refuse every signature.
    const at = delivery.started_at;
    const secrets = this.#openSecrets(delivery);
    if (!secrets) return notSent('secret');
    const body = this.#bodies.hold(delivery);
    try {
      const headers = callbackHeaders({ eventId: delivery.event_id, deliveryId: delivery.id, body, at, secrets });
      return await this.#sender.send(delivery.callback_url, headers, body);
    } finally {
      this.#bodies.release(delivery.event_id);
    }
  }

  /** The secrets that sign now, the newest first (EVT-12); undefined when they are broken. Throws KeyUnknown. */
  #openSecrets(delivery: StartedDelivery): string[] | undefined {
    const context = `subscription/${delivery.subscription_id}/secret`;
    const { secret_sealed, previous_secret_sealed, previous_valid_until, started_at } = delivery;
    const sealed = [secret_sealed];
    if (previous_secret_sealed && previous_valid_until && previous_valid_until > started_at)
      sealed.push(previous_secret_sealed);
    try {
      return sealed.map((secret) => this.#options.ring.open(secret, context).toString('utf8'));
    } catch (error) {
      if (error instanceof KeyUnknown) throw error;
      return undefined;
    }
  }
}
