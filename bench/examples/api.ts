import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';

/** A small client of the API: what an integration needs of it, and nothing of the service's own code. */

const TRIES = 6;
const { BASE_URL = 'http://127.0.0.1:8080', API_KEY, GATEWAY_CLIENT_ID, GATEWAY_CLIENT_SECRET } = process.env;
const IDENTITY = {
  'User-Agent': 'connection-service-examples',
  Authorization: `Bearer ${API_KEY}`,
  ...(GATEWAY_CLIENT_ID && { 'Gateway-Access-Client-Id': GATEWAY_CLIENT_ID }),
  ...(GATEWAY_CLIENT_SECRET && { 'Gateway-Access-Client-Secret': GATEWAY_CLIENT_SECRET }),
};

export interface Operation {
  id: string;
  status: string;
  result: Record<string, unknown> | null;
  error_code: string | null;
  error_details: { retryable: boolean } | null;
  challenge: { id: string; kind: string; expires_at: string; accepts_code: boolean } | null;
  evidence: { fault: string; look: { found: string | null; reason: string | null } | null } | null;
}

/** An answer that is an error: `code` says which, `message` where in the request it lies. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    errors: { path: string; expected: string }[] = [],
  ) {
    super([`${status} ${code}`, ...errors.map(({ path, expected }) => `${path}: ${expected}`)].join('; '));
  }
}

/**
 * Sends a request, and again after `Retry-After` where the service asks for that. An answer that was lost is asked for again where that
 * cannot do anything twice: reads, and submissions under their `Idempotency-Key`.
 */
export async function call<T>(method: string, path: string, body?: object, headers: object = {}): Promise<T> {
  const repeatable = method === 'GET' || 'Idempotency-Key' in headers;
  const request: RequestInit = { method, headers: { ...IDENTITY, 'Content-Type': 'application/json', ...headers } };
  if (body) request.body = JSON.stringify(body);
  for (let tried = 1; ; tried++) {
    const answer = await fetch(BASE_URL + path, { ...request, signal: AbortSignal.timeout(60_000) }).catch((error) => {
      if (!repeatable || tried === TRIES) throw error;
    });
    const wait_s = answer ? Number(answer.headers.get('Retry-After')) : tried;
    if (answer?.ok) return (answer.status === 204 ? undefined : await answer.json()) as T;
    if (answer && (wait_s === 0 || tried === TRIES)) {
      const { code, errors } = (await answer.json()) as { code: string; errors?: { path: string; expected: string }[] };
      throw new Refused(answer.status, code, errors);
    }
    await delay(wait_s * 1000);
  }
}

/** Submits an operation. The key makes it one operation, however often this is called with it. */
export function submit(connection: string, capability: string, input: object, key: string = randomUUID()) {
  const path = `/v1/connections/${connection}/operations`;
  return call<Operation>('POST', path, { capability, input }, { 'Idempotency-Key': key });
}

/** The operation once it has ended, or waits for the user: the service answers as soon as that is so. */
export async function settled({ id }: { id: string }): Promise<Operation> {
  for (;;) {
    const operation = await call<Operation>('GET', `/v1/operations/${id}`, undefined, { Prefer: 'wait=30' });
    if (operation.status !== 'queued' && operation.status !== 'running') return operation;
  }
}

/** A new simulated connection: it behaves as a real account does, and needs none. Words in `actor` choose how its operations end. */
export async function simulated(actor: string = randomUUID()): Promise<string> {
  const body = { provider: 'simulated', external_actor: { kind: 'person', id: actor } };
  return (await call<{ id: string }>('POST', '/v1/connections', body)).id;
}
