import { randomUUID } from 'node:crypto';
import typia from 'typia';
import { request } from 'undici';
import type { BenchService } from './service.js';

/** The service's API as a scenario uses it. */
export interface ServiceApi {
  get(path: string): Promise<unknown>;
  post(path: string, body: object): Promise<unknown>;
  /** Submits an operation and gives it once it is terminal or waits for its user. */
  run(connectionId: string, capability: string, input?: object): Promise<EndedOperation>;
}

export interface EndedOperation {
  id: string;
  status: string;
  error_code: string | null;
  result: Record<string, unknown> | null;
}

const assertOperation = typia.createAssert<EndedOperation>();

export function openApi({ url, key }: Pick<BenchService, 'url' | 'key'>): ServiceApi {
  const call = async (method: 'GET' | 'POST', path: string, headers: Record<string, string>, body?: object) => {
    const answer = await request(url + path, {
      method,
      headers: { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }), ...headers },
      ...(body && { body: JSON.stringify(body) }),
    });
    if (answer.statusCode >= 300)
      throw new Error(`${method} ${path}: ${answer.statusCode} ${await answer.body.text()}`);
    return answer.body.json();
  };
  return {
    get: (path) => call('GET', path, {}),
    post: (path, body) => call('POST', path, {}, body),
    async run(connectionId, capability, input = {}) {
      const path = `/v1/connections/${connectionId}/operations`;
      const accepted = await call('POST', path, { 'idempotency-key': randomUUID() }, { capability, input });
      for (let operation = assertOperation(accepted); ; ) {
        operation = assertOperation(await call('GET', `/v1/operations/${operation.id}`, { prefer: 'wait=30' }));
        if (operation.status !== 'queued' && operation.status !== 'running') return operation;
      }
    },
  };
}
