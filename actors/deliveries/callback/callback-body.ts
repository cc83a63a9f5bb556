import type { CallbackEvent } from '../../../storage/deliveries/deliveries.js';
import type { KeyRing } from '../../../storage/secrets/encryption.js';
import { eventDataContext } from '../../../storage/secrets/sealing.js';

/** The bytes of one event, while an attempt of one of its deliveries is under way. */
interface SharedBody {
  bytes: Buffer;
  users: number;
}

/**
 * Bodies of callbacks: `{id, type, connection_id, provider_event_id, received_at, data}` (contract: "Events"). An event goes to
 * every subscription that selected it at about the same time: its bytes are made once and shared until the last attempt ends.
 */
export class CallbackBodies {
  readonly #shared = new Map<string, SharedBody>();

  /** Returns the bytes of the event; throws KeyUnknown when the ring lacks the key of its data. Call `release` once for each call of this. */
  hold(event: CallbackEvent, ring: KeyRing): Buffer {
    const shared = this.#shared.get(event.event_id) ?? { bytes: callbackBody(event, ring), users: 0 };
    shared.users++;
    this.#shared.set(event.event_id, shared);
    return shared.bytes;
  }

  release(eventId: string): void {
    const shared = this.#shared.get(eventId);
    if (shared && --shared.users === 0) this.#shared.delete(eventId);
  }
}

function dataOf({ event_id, event_data, event_data_sealed }: CallbackEvent, ring: KeyRing): string {
  return event_data_sealed
    ? ring.open(event_data_sealed, eventDataContext(event_id)).toString('utf8')
    : `${event_data}`;
}

/** The bytes that every callback of the event carries; throws KeyUnknown when the ring lacks the key of its data. */
export function callbackBody(event: CallbackEvent, ring: KeyRing): Buffer {
  const head = JSON.stringify({
    id: event.event_id,
    type: event.event_type,
    connection_id: event.connection_id,
    provider_event_id: event.provider_event_id,
    received_at: event.received_at.toISOString(),
  });
  // `data` is JSON text already: to parse and write it again would cost more than all the rest, and round its large numbers.
  return Buffer.from(`${head.slice(0, -1)},"data":${dataOf(event, ring)}}`);
}
