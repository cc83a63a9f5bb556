import { SCOPES } from '../../storage/model/records.js';
import type { Route } from '../http/route.js';

export const WORKSPACE_KEY = {
  workspaceKey: {
    type: 'http',
    scheme: 'bearer',
    description: `A workspace key. Its scopes are among ${SCOPES.map((scope) => `\`${scope}\``).join(', ')}. Answers to one that expires soon carry \`Key-Expires\`, the moment in ISO 8601. The key of an operator has all scopes, and \`operator\`; it works in the workspace that the header \`Console-Workspace\` names.`,
  },
};

export const CONSOLE_SESSION = {
  consoleSession: {
    type: 'apiKey',
    in: 'cookie',
    name: 'cs_console',
    description:
      'A session of the console: on every route it takes the place of the key that it was begun with, where no key is sent. Such a request carries `Console-Request: 1` and comes from the console itself, else it is 403 `cross_site`. With `PUBLIC_URL` in https the name is `__Host-cs_console`.',
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
export function securityOf({ scopes, probe, session }: Route, hosted: boolean): object {
  const gateway = hosted && probe !== 'past the gateway' && { gatewayClientId: [], gatewayClientSecret: [] };
  const credential = session ? { consoleSession: [] } : scopes === 'none' ? {} : { workspaceKey: [] };
  return {
    security: [{ ...credential, ...gateway }],
    ...(scopes !== 'none' && { 'x-required-scopes': scopes }),
  };
}
