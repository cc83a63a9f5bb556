import type { StartedDelivery } from '../../storage/deliveries/deliveries.js';

/** The bytes of one event, while any of its deliveries is under way. */
interface Shared {
  bytes: Buffer;
  users: number;
}

/**
 * Bodies of callbacks: `{id, type, connection_id, provider_event_id, received_at, data}` (contract: "Events"). An event goes to
 * every subscription that selected it at about the same time: its bytes are made once and shared until the last is done.
 */
export class CallbackBodies {
  readonly #shared = new Map<string, Shared>();

  /** The bytes of the event; `release` them once for each call. */
  hold(event: StartedDelivery): Buffer {
    const shared = this.#shared.get(event.event_id) ?? { bytes: callbackBody(event), users: 0 };
    shared.users++;
    this.#shared.set(event.event_id, shared);
    return shared.bytes;
  }

  release(eventId: string): void {
    const shared = this.#shared.get(eventId);
    if (shared && --shared.users === 0) this.#shared.delete(eventId);
  }
}

function callbackBody(event: StartedDelivery): Buffer {
  const head = JSON.stringify({
    id: event.event_id,
    type: event.event_type,
    connection_id: event.connection_id,
    provider_event_id: event.provider_event_id,
    received_at: event.received_at.toISOString(),
  });
  // `data` is JSON text already: parsing it to write it again would cost more than the rest and bend its numbers.
  return Buffer.from(`${head.slice(0, -1)},"data":${event.event_data}}`);
}
