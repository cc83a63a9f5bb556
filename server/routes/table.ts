import type { Route } from '../http/route.js';
import { connectionChangeRoutes } from './connection-changes.js';
import { connectionRoutes } from './connections.js';
import { healthRoutes } from './health.js';
import { operationActionRoutes } from './operation-actions.js';
import { operationRoutes } from './operations.js';
import { submissionRoutes } from './submission.js';

/** Every route of the service, in the order the specification tells them. */
export const routes: readonly Route[] = [
  ...healthRoutes,
  ...connectionRoutes,
  ...connectionChangeRoutes,
  ...submissionRoutes,
  ...operationRoutes,
  ...operationActionRoutes,
];
