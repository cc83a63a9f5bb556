import { randomUUID } from 'node:crypto';
import typia from 'typia';
import { request } from 'undici';
import { withRoom } from './with-room.js';

/** An operation that is terminal or waits for its user. */
export interface EndedOperation {
  id: string;
  status: string;
  error_code: string | null;
  result: Record<string, unknown> | null;
}

type Method = 'GET' | 'POST' | 'PATCH';

const assertOperation = typia.createAssert<EndedOperation>();
const assertCreated = typia.createAssert<{ id: string }>();

/** The service's API as a scenario uses it. A call that finds no room is sent again; every other answer that is no success throws. */
export class ServiceApi {
  readonly #url: string;
  readonly #key: string;
  readonly #again: readonly string[];

  /** `patient`: a call that finds no database is sent again as well, although it may have been done. */
  constructor({ url, key, patient = false }: { url: string; key: string; patient?: boolean }) {
    this.#url = url;
    this.#key = key;
    this.#again = patient ? ['overloaded', 'unavailable'] : ['overloaded'];
  }

  async send(method: Method, path: string, body?: object, headers = {}): Promise<{ body: unknown }> {
    const { status, body: answered } = await withRoom(() => this.#sendOnce(method, path, body, headers), this.#again);
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(answered)}`);
    return { body: answered };
  }

  async #sendOnce(method: Method, path: string, body: object | undefined, headers: object) {
    const answer = await request(this.#url + path, {
      method,
      headers: {
        authorization: `Bearer ${this.#key}`,
        ...(body && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: answer.statusCode, body: await answer.body.json() };
  }

  /** Creates a connection and gives its id. */
  connect(body: object): Promise<string> {
    return this.#create('/v1/connections', body);
  }

  /** Creates a subscription to the messages of a connection and gives its id. */
  subscribe(connectionId: string, callback_url: string, secret: string): Promise<string> {
    const body = { event_types: ['message_received'], callback_url, secret };
    return this.#create(`/v1/connections/${connectionId}/subscriptions`, body);
  }

  /** Creates a subscription of all connections and gives its id. */
  subscribeAll(event_types: string[], callback_url: string, secret: string): Promise<string> {
    return this.#create('/v1/subscriptions', { event_types, callback_url, secret });
  }

  /** Records an event of a simulated connection. */
  async emit(connectionId: string, data: object): Promise<void> {
    const body = { type: 'message_received', data };
    await this.send('POST', `/v1/connections/${connectionId}/simulated-events`, body);
  }

  /** Submits an operation and waits for it. */
  async run(connectionId: string, capability: string, input: object = {}): Promise<EndedOperation> {
    const headers = { 'idempotency-key': randomUUID() };
    const accepted = await this.send(
      'POST',
      `/v1/connections/${connectionId}/operations`,
      { capability, input },
      headers,
    );
    for (let operation = assertOperation(accepted.body); ; ) {
      const { body } = await this.send('GET', `/v1/operations/${operation.id}`, undefined, { prefer: 'wait=30' });
      operation = assertOperation(body);
      if (operation.status !== 'queued' && operation.status !== 'running') return operation;
    }
  }

  async #create(path: string, body: object): Promise<string> {
    return assertCreated((await this.send('POST', path, body)).body).id;
  }
}
