import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import typia from 'typia';
import type { Hint } from '../../actors/system.js';
import { demoReceiver } from '../../server/start/demo-receiver.js';
import { recordEvents } from '../../storage/deliveries/events-record.js';
import type { NewEvent } from '../../storage/model/records.js';
import { notifyHints } from '../../storage/partitions/hints.js';
import type { Database } from '../../storage/postgres/database.js';
import { listWorkspaces } from '../../storage/workspaces/workspaces.js';
import { type BenchService, startService } from '../service.js';
import type { FromReceiver, Tally, ToReceiver } from './receiver.js';

/** The service and a receiver of callbacks, each a process of its own: what the scenarios about deliveries stand on. */
export interface CallbackGround extends AsyncDisposable {
  service: BenchService;
  /** Without a path. */
  receiverUrl: string;
  /** PEM of what vouches for the receiver. */
  ca: string;
  /** Forgets what came in; resolves once `count` callbacks have been accepted. */
  expect(count: number): Promise<void>;
  tally(): Promise<Tally>;
  /** Gives the id of a new subscription of the connection to `path` of the receiver. */
  subscribe(connectionId: string, path: string): Promise<string>;
  /** Records an event of the connection through the API, as its simulated provider would. */
  emit(connectionId: string): Promise<void>;
  setActive(subscriptionId: string, active: boolean): Promise<void>;
}

export async function callbackGround(): Promise<CallbackGround> {
  const dir = await mkdtemp(join(tmpdir(), 'bench-receiver-'));
  const identity = await demoReceiver(dir);
  const receiver = new ReceiverProcess(fork(new URL('./receiver.js', import.meta.url)));
  const { host, key, cert, secret } = identity;
  const { url: receiverUrl } = await receiver.ask(
    { type: 'start', identity: { host, key, cert, secret } },
    'listening',
  );
  const service = await startService({
    CALLBACK_ALLOWED_NETWORKS: `${host}/32`,
    CALLBACK_CA_FILE: identity.caFile,
  });
  const call = async (method: string, path: string, body: object): Promise<unknown> => {
    const answer = await fetch(service.url + path, {
      method,
      headers: { authorization: `Bearer ${service.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  };
  return {
    service,
    receiverUrl,
    ca: identity.cert,
    async expect(count) {
      await receiver.ask({ type: 'expect', count }, 'done');
    },
    async tally() {
      return (await receiver.ask({ type: 'tell' }, 'tally')).tally;
    },
    async subscribe(connectionId, path) {
      const subscription = await call('POST', `/v1/connections/${connectionId}/subscriptions`, {
        event_types: ['message_received'],
        callback_url: receiverUrl + path,
        secret,
      });
      return typia.assert<{ id: string }>(subscription).id;
    },
    async emit(connectionId) {
      const { type, data } = messageReceived(connectionId);
      await call('POST', `/v1/connections/${connectionId}/simulated-events`, { type, data });
    },
    async setActive(subscriptionId, active) {
      await call('PATCH', `/v1/subscriptions/${subscriptionId}`, { active });
    },
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]();
      receiver.end();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

class ReceiverProcess {
  readonly #ended: Promise<never>;
  #ending = false;

  constructor(private readonly child: ChildProcess) {
    child.setMaxListeners(0);
    this.#ended = new Promise((_, reject) => {
      child.once('exit', () => {
        if (!this.#ending) reject(new Error('the receiver ended'));
      });
    });
    this.#ended.catch(() => {});
  }

  /** Lets it end. What it was asked and has not answered, an expectation nobody waits for, stays unanswered. */
  end(): void {
    this.#ending = true;
    this.child.disconnect();
  }

  /** Sends a message and waits for the next one of the type that answers it. */
  async ask<T extends FromReceiver['type']>(
    message: ToReceiver,
    answer: T,
  ): Promise<Extract<FromReceiver, { type: T }>> {
    const answered = new Promise<Extract<FromReceiver, { type: T }>>((resolve) => {
      const look = (said: FromReceiver) => {
        if (said.type !== answer) return;
        this.child.off('message', look);
        resolve(said as Extract<FromReceiver, { type: T }>);
      };
      this.child.on('message', look);
    });
    this.child.send(message);
    return Promise.race([answered, this.#ended]);
  }
}

/** Events in a statement. */
const BATCH_events = 500;

/** What a message looks like; about 400 bytes with the envelope. */
const messageReceived = (connectionId: string): NewEvent => ({
  connectionId,
  providerEventId: randomUUID(),
  type: 'message_received',
  data: {
    conversation_id: 'conversation-of-the-bench',
    message_urn: `urn:social:message:${randomUUID()}`,
    message_body: 'Hello, thank you for the invitation. When do you have time for a call?',
    sender_hash_id: 'somebody',
  },
});

/** A recorder of events on the service's own database: the statement the service itself records with. */
export async function eventRecorder(
  db: Database,
): Promise<(connectionIds: string[], count: number) => Promise<number>> {
  const [workspace] = await listWorkspaces(db);
  if (!workspace) throw new Error('there is no workspace');
  return async (connectionIds, count) => {
    let deliveries = 0;
    for (let recorded = 0; recorded < count; ) {
      const size = Math.min(BATCH_events, count - recorded);
      const events = Array.from({ length: size }, (_, i) =>
        messageReceived(connectionIds[(recorded + i) % connectionIds.length] as string),
      );
      const stored = await recordEvents(db, workspace.id, events);
      deliveries += stored.reduce((sum, event) => sum + event.deliveries, 0);
      recorded += size;
      // As a node tells the owner of what it recorded.
      const owners = [...new Set(events.map(({ connectionId }) => connectionId))];
      await notifyHints(
        db,
        owners.map((connectionId) => JSON.stringify({ type: 'deliveries', connectionId } satisfies Hint)),
      );
    }
    return deliveries;
  };
}
