import type { ConnectionRef, ConnectionView } from '../../storage/connections/connections.js';
import { type DeliveryRow, findDeliveries } from '../../storage/deliveries/deliveries-read.js';
import { type EventRow, findEvents } from '../../storage/deliveries/events.js';
import type { SubscriptionRow } from '../../storage/deliveries/subscriptions.js';
import type { OperationRow } from '../../storage/model/records.js';
import { pathId } from '../http/fields.js';
import type { Lookup } from '../http/route.js';

/**
 * The row that a path names. One of another workspace is answered like an unknown one (contract:
 * "Authentication" 4; HTTP-8).
 */
async function inWorkspace<Row extends { workspace_id: string }>(
  lookup: Lookup,
  name: string,
  load: (id: string) => Promise<Row | undefined>,
): Promise<Row | undefined> {
  const id = pathId(lookup.params[name]);
  const row = id === undefined ? undefined : await load(id);
  return row?.workspace_id === lookup.key.workspace_id ? row : undefined;
}

export const connectionResource = (lookup: Lookup): Promise<ConnectionView | undefined> =>
  inWorkspace(lookup, 'connection_id', lookup.load.connection);

export const connectionRefResource = (lookup: Lookup): Promise<ConnectionRef | undefined> =>
  inWorkspace(lookup, 'connection_id', lookup.load.connectionRef);

export const submissionTarget = (lookup: Lookup): Promise<ConnectionRef | undefined> =>
  inWorkspace(lookup, 'connection_id', lookup.load.submissionTarget);

export const operationResource = (lookup: Lookup): Promise<OperationRow | undefined> =>
  inWorkspace(lookup, 'operation_id', lookup.load.operation);

export const subscriptionResource = (lookup: Lookup): Promise<SubscriptionRow | undefined> =>
  inWorkspace(lookup, 'subscription_id', lookup.load.subscription);

export const eventResource = (lookup: Lookup): Promise<EventRow | undefined> =>
  inWorkspace(lookup, 'event_id', async (id) => (await findEvents(lookup.db, [id]))[0]);

export const deliveryResource = (lookup: Lookup): Promise<DeliveryRow | undefined> =>
  inWorkspace(lookup, 'delivery_id', async (id) => (await findDeliveries(lookup.db, [id]))[0]);
