import type { StartedDelivery } from '../../../storage/deliveries/deliveries.js';
import type { Logger } from '../../../storage/log/log.js';
import { traceIdOf } from '../../../storage/model/traceparent.js';
import type { Tally } from '../../../storage/overview/tally.js';
import { type KeyRing, KeyUnknown } from '../../../storage/secrets/encryption.js';
import { callbackUrlContext, subscriptionSecretContext } from '../../../storage/secrets/sealing.js';
import type { OpenSpan, Tracing } from '../../../storage/tracing/tracing.js';
import type { AttemptError } from './attempt-error.js';
import { CallbackBodies } from './callback-body.js';
import { AttemptCounters } from './counters.js';
import { type AttemptResult, Sender, type SenderOptions } from './sender.js';
import { callbackHeaders } from './signature.js';

export interface AttemptOptions extends SenderOptions {
  /** Opens the secrets of subscriptions. */
  ring: KeyRing;
  log: Logger;
  /** Absent: no spans are made. */
  tracing?: Tracing | undefined;
  /** Counts what happens in workspaces; absent: nothing is counted. */
  tally?: Tally;
}

const logFields = (delivery: StartedDelivery, origin: string | null, result: AttemptResult) => ({
  delivery_id: delivery.id,
  subscription_id: delivery.owner_id,
  event_id: delivery.event_id,
  connection_reference: delivery.connection_reference ?? undefined,
  trace_id: delivery.traceparent === null ? undefined : traceIdOf(delivery.traceparent),
  origin,
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

function endSpan(span: OpenSpan, delivery: StartedDelivery, result: AttemptResult | undefined): void {
  const attributes = {
    'delivery.id': delivery.id,
    'subscription.id': delivery.owner_id,
    'event.id': delivery.event_id,
    'delivery.attempt': delivery.attempt_count,
    'http.response.status_code': result?.status_code ?? undefined,
    'error.type': result?.error ?? undefined,
  };
  span.end(attributes, result?.outcome !== 'delivered');
}

/**
 * Makes one attempt of a delivery that was started: body, secrets, signature, request; counted, and logged when it failed. A log line holds only the
 * origin of the callback: the body, and a path that may be a secret itself, are left out. The secrets came
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
    const { log, tracing } = this.#options;
    const { traceparent } = delivery;
    const span = traceparent === null ? undefined : tracing?.begin('callback', 'client', traceparent);
    const result = await this.#send(delivery, span?.traceparent ?? traceparent).catch((error: unknown) => {
      if (error instanceof KeyUnknown) {
        log.warn(
          { delivery_id: delivery.id, key: error.keyId },
          'a delivery waits: this node lacks a key that it needs',
        );
        return undefined;
      }
      // If this rejected, the delivery would stay `sending` until its partition is recovered.
      log.error({ err: error, delivery_id: delivery.id }, 'deliveries: an attempt broke');
      return notSent('internal');
    });
    if (span) endSpan(span, delivery, result);
    if (!result) return undefined;
    const since_ms = delivery.started_at.getTime() - delivery.received_at.getTime() + result.duration_ms;
    this.counters.count(result, since_ms);
    this.#options.tally?.count(delivery.workspace_id, result.outcome === 'delivered' ? 'delivered' : 'undelivered');
    if (result.outcome === 'failed')
      log.debug(logFields(delivery, this.#originOf(delivery), result), 'deliveries: an attempt failed');
    return result;
  }

  /** Logs that the delivery is `failed`: this was the last attempt of its series. */
  gaveUp(delivery: StartedDelivery, result: AttemptResult): void {
    this.#options.log.warn(logFields(delivery, this.#originOf(delivery), result), 'deliveries: a delivery failed');
  }

  /** Closes every connection. */
  destroy(): Promise<void> {
    return this.#sender.destroy();
  }

  async #send(delivery: StartedDelivery, traceparent: string | null): Promise<AttemptResult> {
    // By the database's clock, as it was told with the start: of a node that is minutes off, receivers would refuse every signature.
    const at = delivery.started_at;
    const secrets = this.#openSecrets(delivery);
    if (!secrets) return notSent('secret');
    const callbackUrl = this.#callbackUrlOf(delivery);
    const body = this.#bodies.hold(delivery, this.#options.ring);
    try {
      const { id: deliveryId, event_id: eventId, connection_reference: reference } = delivery;
      const headers = callbackHeaders({ eventId, deliveryId, reference, body, at, secrets });
      if (traceparent !== null) headers.traceparent = traceparent;
      return await this.#sender.send(callbackUrl, headers, body);
    } finally {
      this.#bodies.release(delivery.event_id);
    }
  }

  /** Throws KeyUnknown. */
  #callbackUrlOf({ owner_id, callback_url, callback_url_sealed }: StartedDelivery): string {
    if (!callback_url_sealed) return callback_url ?? '';
    return this.#options.ring.open(callback_url_sealed, callbackUrlContext(owner_id)).toString('utf8');
  }

  /** Null of a callback that is no URL, which is blocked as `invalid`, and of one that cannot be opened here. */
  #originOf(delivery: StartedDelivery): string | null {
    try {
      return new URL(this.#callbackUrlOf(delivery)).origin;
    } catch {
      return null;
    }
  }

  /** The secrets that sign this attempt, the newest first (EVT-12); undefined when one is broken. Throws KeyUnknown. */
  #openSecrets({ owner_id, secrets_sealed }: StartedDelivery): string[] | undefined {
    const context = subscriptionSecretContext(owner_id);
    try {
      return secrets_sealed.map((secret) => this.#options.ring.open(secret, context).toString('utf8'));
    } catch (error) {
      if (error instanceof KeyUnknown) throw error;
      return undefined;
    }
  }
}
