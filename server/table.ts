import { sessionRoutes } from './console/sessions.js';
import type { Route } from './http/route.js';
import { referenceRoutes } from './openapi/reference.js';
import { connectionChangeRoutes } from './routes/connection-changes.js';
import { connectionRoutes } from './routes/connections.js';
import { deliveryRoutes } from './routes/deliveries.js';
import { eventRoutes } from './routes/events.js';
import { healthRoutes } from './routes/health.js';
import { invitationRoutes } from './routes/invitations.js';
import { listenerRoutes } from './routes/listener.js';
import { operationActionRoutes } from './routes/operation-actions.js';
import { operationInputRoutes } from './routes/operation-input.js';
import { operationRoutes } from './routes/operations.js';
import { submissionRoutes } from './routes/submission.js';
import { subscriptionChangeRoutes } from './routes/subscription-changes.js';
import { subscriptionTestRoutes } from './routes/subscription-test.js';
import { subscriptionRoutes } from './routes/subscriptions.js';

/** Every route of the service, in the order of the contract. */
export const routes: readonly Route[] = [
  ...healthRoutes,
  ...connectionRoutes,
  ...connectionChangeRoutes,
  ...submissionRoutes,
  ...operationRoutes,
  ...operationInputRoutes,
  ...operationActionRoutes,
  ...invitationRoutes,
  ...subscriptionRoutes,
  ...subscriptionChangeRoutes,
  ...subscriptionTestRoutes,
  ...listenerRoutes,
  ...eventRoutes,
  ...deliveryRoutes,
  ...sessionRoutes,
  ...referenceRoutes(() => routes),
];
