import { liveRoutes } from './console/live.js';
import { pageRoutes } from './console/pages.js';
import { sessionRoutes } from './console/sessions.js';
import type { Route } from './http/route.js';
import { referenceRoutes } from './openapi/reference.js';
import { attentionRoutes } from './routes/attention.js';
import { auditRoutes } from './routes/audit.js';
import { auditStreamRoutes } from './routes/audit-stream.js';
import { connectionChangeRoutes } from './routes/connection-changes.js';
import { connectionRoutes } from './routes/connections.js';
import { deliveryRoutes } from './routes/deliveries.js';
import { deliveryBodyRoutes } from './routes/delivery-body.js';
import { eventRoutes } from './routes/events.js';
import { healthRoutes } from './routes/health.js';
import { invitationRoutes } from './routes/invitations.js';
import { keyRoutes } from './routes/keys.js';
import { limitRoutes } from './routes/limits.js';
import { listenerRoutes } from './routes/listener.js';
import { nodeRoutes } from './routes/nodes.js';
import { operationActionRoutes } from './routes/operation-actions.js';
import { operationInputRoutes } from './routes/operation-input.js';
import { operationRoutes } from './routes/operations.js';
import { operatorKeyRoutes } from './routes/operator-keys.js';
import { operatorWorkspaceRoutes } from './routes/operator-workspaces.js';
import { overviewRoutes } from './routes/overview.js';
import { reconnectRoutes } from './routes/reconnect.js';
import { reconnectLinkRoutes } from './routes/reconnect-link.js';
import { submissionRoutes } from './routes/submission.js';
import { subscriptionChangeRoutes } from './routes/subscription-changes.js';
import { subscriptionHoldRoutes } from './routes/subscription-hold.js';
import { subscriptionTestRoutes } from './routes/subscription-test.js';
import { subscriptionRoutes } from './routes/subscriptions.js';
import { workspaceSubscriptionRoutes } from './routes/workspace-subscriptions.js';

/** Every route of the service, in the order of the contract. */
export const routes: readonly Route[] = [
  ...healthRoutes,
  ...connectionRoutes,
  ...connectionChangeRoutes,
  ...reconnectLinkRoutes,
  ...reconnectRoutes,
  ...submissionRoutes,
  ...operationRoutes,
  ...operationInputRoutes,
  ...operationActionRoutes,
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
