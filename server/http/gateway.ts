import { createHash, timingSafeEqual } from 'node:crypto';
import { HttpError } from '../../storage/model/errors.js';
import type { Exchange } from './socket.js';

/** What the gateway in front of a hosted service adds to every request. */
export interface GatewayAccess {
  id: string;
  secret: string;
}

/** Checks the gateway headers, then that the client named itself (contract: "Authentication" 1; HTTP-11). */
export function gatewayCheck(access: GatewayAccess): (headers: Exchange['headers']) => void {
  const expected = digest(access.id, access.secret);
  return (headers) => {
    const given = digest(headers['gateway-access-client-id'], headers['gateway-access-client-secret']);
    if (!timingSafeEqual(given, expected)) throw new HttpError('gateway_unauthorized');
    if (headers['user-agent'].trim() === '') throw new HttpError('user_agent_required');
  };
}

/** Of one length whatever the values are, so that comparing takes the same time. */
function digest(id: string, secret: string): Buffer {
  return createHash('sha256').update(`${id.length}:${id}${secret}`).digest();
}
