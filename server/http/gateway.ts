import { createHash, timingSafeEqual } from 'node:crypto';
import { HttpError } from '../../storage/model/errors.js';
import type { HttpExchange } from './wire/exchange.js';

/** The credentials that the gateway in front of a hosted service adds to every request. */
export interface GatewayAccess {
  id: string;
  secret: string;
}

/** Throws 401 for other headers than the gateway's. */
export type GatewayCheck = (headers: HttpExchange['headers']) => void;

/** Checks the gateway headers (contract: "Authentication" 1; HTTP-11). */
export function gatewayCheck(access: GatewayAccess): GatewayCheck {
  const expected = digest(access.id, access.secret);
  return (headers) => {
    const sent = digest(headers['gateway-access-client-id'], headers['gateway-access-client-secret']);
    if (!timingSafeEqual(sent, expected)) throw new HttpError('gateway_unauthorized');
  };
}

/** Throws 403 for a client that does not name itself. */
export function requireName(headers: HttpExchange['headers']): void {
  if (headers['user-agent'].trim() === '') throw new HttpError('user_agent_required');
}

/** Has one length for values of any length, so that comparing takes the same time. */
function digest(id: string, secret: string): Buffer {
  return createHash('sha256').update(`${id.length}:${id}${secret}`).digest();
}
