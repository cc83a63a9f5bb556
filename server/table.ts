import { liveRoutes } from './console/live.js';
import { pageRoutes } from './console/pages.js';
import { sessionRoutes } from './console/sessions.js';
import type { Route } from './http/route.js';
import { referenceRoutes } from './openapi/reference.js';
import { clientNameRoutes } from './routes/connections/client-names.js';
import { connectionChangeRoutes } from './routes/connections/connection-changes.js';
import { connectionRoutes } from './routes/connections/connections.js';
import { invitationRoutes } from './routes/connections/invitations.js';
import { listenerRoutes } from './routes/connections/listener.js';
import { reconnectRoutes } from './routes/connections/reconnect.js';
import { reconnectLinkRoutes } from './routes/connections/reconnect-link.js';
import { healthRoutes } from './routes/health.js';
import { cancelManyRoutes } from './routes/operations/cancel-many.js';
import { operationActionRoutes } from './routes/operations/operation-actions.js';
import { operationInputRoutes } from './routes/operations/operation-input.js';
import { operationRoutes } from './routes/operations/operations.js';
import { submissionRoutes } from './routes/operations/submission.js';
import { attentionRoutes } from './routes/operator/attention.js';
import { auditRoutes } from './routes/operator/audit.js';
import { auditStreamRoutes } from './routes/operator/audit-stream.js';
import { keyRoutes } from './routes/operator/keys.js';
import { limitRoutes } from './routes/operator/limits.js';
import { nodeRoutes } from './routes/operator/nodes.js';
import { operatorKeyRoutes } from './routes/operator/operator-keys.js';
import { operatorWorkspaceRoutes } from './routes/operator/operator-workspaces.js';
import { overviewRoutes } from './routes/operator/overview.js';
import { deliveryRoutes } from './routes/subscriptions/deliveries.js';
import { deliveryBodyRoutes } from './routes/subscriptions/delivery-body.js';
import { eventRoutes } from './routes/subscriptions/events.js';
import { subscriptionChangeRoutes } from './routes/subscriptions/subscription-changes.js';
import { subscriptionHoldRoutes } from './routes/subscriptions/subscription-hold.js';
import { subscriptionTestRoutes } from './routes/subscriptions/subscription-test.js';
import { subscriptionRoutes } from './routes/subscriptions/subscriptions.js';
import { workspaceSubscriptionRoutes } from './routes/subscriptions/workspace-subscriptions.js';

/** Every route of the service, in the order of the contract. */
export const routes: readonly Route[] = [
  ...healthRoutes,
  ...connectionRoutes,
  ...connectionChangeRoutes,
  ...clientNameRoutes,
  ...reconnectLinkRoutes,
  ...reconnectRoutes,
  ...submissionRoutes,
  ...operationRoutes,
  ...operationInputRoutes,
  ...operationActionRoutes,
  ...cancelManyRoutes,
  ...invitationRoutes,
  ...subscriptionRoutes,
  ...workspaceSubscriptionRoutes,
  ...subscriptionChangeRoutes,
  ...subscriptionHoldRoutes,
  ...subscriptionTestRoutes,
  ...listenerRoutes,
  ...eventRoutes,
  ...deliveryRoutes,
  ...deliveryBodyRoutes,
  ...attentionRoutes,
  ...overviewRoutes,
  ...auditRoutes,
  ...auditStreamRoutes,
  ...keyRoutes,
  ...limitRoutes,
  ...operatorKeyRoutes,
  ...operatorWorkspaceRoutes,
  ...nodeRoutes,
  ...sessionRoutes,
  ...liveRoutes,
  ...pageRoutes,
  ...referenceRoutes(() => routes),
];
