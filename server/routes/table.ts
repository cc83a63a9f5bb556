import type { Route } from '../http/route.js';
import { connectionChangeRoutes } from './connection-changes.js';
import { connectionRoutes } from './connections.js';
import { deliveryRoutes } from './deliveries.js';
import { eventRoutes } from './events.js';
import { healthRoutes } from './health.js';
import { invitationRoutes } from './invitations.js';
import { listenerRoutes } from './listener.js';
import { operationActionRoutes } from './operation-actions.js';
import { operationRoutes } from './operations.js';
import { referenceRoutes } from './reference.js';
import { submissionRoutes } from './submission.js';
import { subscriptionRoutes } from './subscriptions.js';

/** Every route of the service, in the order the specification tells them. */
export const routes: readonly Route[] = [
  ...healthRoutes,
  ...connectionRoutes,
  ...connectionChangeRoutes,
  ...submissionRoutes,
  ...operationRoutes,
  ...operationActionRoutes,
  ...invitationRoutes,
  ...subscriptionRoutes,
  ...listenerRoutes,
  ...eventRoutes,
  ...deliveryRoutes,
  ...referenceRoutes(() => routes),
];
