import { SCOPES } from '../../storage/model/records.js';
import type { Route } from '../http/route.js';

export const WORKSPACE_KEY = {
  workspaceKey: {
    type: 'http',
    scheme: 'bearer',
    description: `A workspace key. Its scopes are among ${SCOPES.map((scope) => `\`${scope}\``).join(', ')}.`,
  },
};

/** Of a service behind a gateway alone: a scheme that is not in force would only be asked for. */
export const GATEWAY = {
  gatewayClientId: {
    type: 'apiKey',
    in: 'header',
    name: 'Gateway-Access-Client-Id',
    description: 'Names the client to the gateway.',
  },
  gatewayClientSecret: {
    type: 'apiKey',
    in: 'header',
    name: 'Gateway-Access-Client-Secret',
    description: 'Proves the client to the gateway; a named `User-Agent` goes with it.',
  },
};

/**
 * With the gateway's headers when hosted, without them otherwise (HTTP-11). The scopes of a key stand beside it: linters want those of a
 * security requirement listed in its scheme, and a bearer scheme has no list.
 */
export function securityOf({ scopes, probe }: Route, hosted: boolean): object {
  const key = scopes === 'none' ? {} : { workspaceKey: [] };
  return {
    security: [{ ...key, ...(hosted && !probe && { gatewayClientId: [], gatewayClientSecret: [] }) }],
    ...(scopes !== 'none' && { 'x-required-scopes': scopes }),
  };
}
