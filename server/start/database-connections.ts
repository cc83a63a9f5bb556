import { actorConnections } from '../../actors/node/node-options.js';
import { LIMITS } from './limits.js';
import type { Config } from './settings/config.js';

/** Connections that a node of this configuration opens to its database at most. */
export function databaseConnections({ actorThreads }: Pick<Config, 'actorThreads'>): number {
  return LIMITS.edge_connections + LIMITS.control_connections + actorConnections(actorThreads);
}
