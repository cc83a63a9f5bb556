import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Hint } from '../../../actors/system.js';
import { demoReceiver } from '../../../server/start/demo-receiver.js';
import { recordEvents } from '../../../storage/deliveries/events-record.js';
import type { NewEvent } from '../../../storage/model/records.js';
import { notifyHints } from '../../../storage/partitions/hints.js';
import type { Database } from '../../../storage/postgres/database.js';
import { listWorkspaces } from '../../../storage/workspaces/workspaces.js';
import { LIMITS } from '../../kit/limits.js';
import { type BenchService, startService } from '../../kit/service.js';
import { TemporaryFolder } from '../../kit/temporary-folder.js';
import type { Tally } from './receiver.js';
import { ReceiverProcess } from './receiver-process.js';

/** The service and a receiver of callbacks, each a process of its own: the fixture of the scenarios about deliveries. */
export interface CallbackFixture extends AsyncDisposable {
  service: BenchService;
  /** Without a path. */
  receiverUrl: string;
  /** PEM of the receiver's certificate. */
  ca: string;
  /** Forgets what came in; resolves once `count` callbacks have been accepted. */
  expect(count: number): Promise<void>;
  tally(): Promise<Tally>;
  /** Gives the id of a new subscription of the connection to `path` of the receiver. */
  subscribe(connectionId: string, path: string): Promise<string>;
  /** The same to any address. */
  subscribeTo(connectionId: string, url: string): Promise<string>;
  /** One of all connections, to `path` of the receiver. */
  subscribeAll(path: string, event_types: string[]): Promise<string>;
  /** Records an event of the connection through the API, as its simulated provider would. */
  emit(connectionId: string): Promise<void>;
  setActive(subscriptionId: string, active: boolean): Promise<void>;
}

/** `settings`: of the service, beside those that let it call the receiver. */
export async function callbackFixture(settings: Record<string, string> = {}): Promise<CallbackFixture> {
  const folder = new TemporaryFolder(join(tmpdir(), 'bench-receiver-'));
  const { host, key, cert, secret, caFile } = await demoReceiver(folder.path);
  const receiver = new ReceiverProcess();
  const { url: receiverUrl } = await receiver.request(
    { type: 'start', identity: { host, key, cert, secret } },
    'listening',
  );
  const service = await startService({
    ...settings,
    CALLBACK_ALLOWED_NETWORKS: `${host}/32`,
    CALLBACK_CA_FILE: caFile,
  });
  return {
    service,
    receiverUrl,
    ca: cert,
    async expect(count) {
      await receiver.request({ type: 'expect', count }, 'done');
    },
    async tally() {
      return (await receiver.request({ type: 'report' }, 'tally')).tally;
    },
    subscribe: (connectionId, path) => service.api.subscribe(connectionId, receiverUrl + path, secret),
    subscribeTo: (connectionId, url) => service.api.subscribe(connectionId, url, secret),
    subscribeAll: (path, event_types) => service.api.subscribeAll(event_types, receiverUrl + path, secret),
    emit: (connectionId) => service.api.emit(connectionId, messageReceived(connectionId).data),
    async setActive(subscriptionId, active) {
      await service.api.send('PATCH', `/v1/subscriptions/${subscriptionId}`, { active });
    },
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]();
      receiver.end();
      await folder[Symbol.asyncDispose]();
    },
  };
}

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
      const size = Math.min(LIMITS.recorded_batch_events, count - recorded);
      const events = Array.from({ length: size }, (_, i) =>
        messageReceived(connectionIds[(recorded + i) % connectionIds.length] as string),
      );
      const stored = await db.transaction((tx) => recordEvents(tx, workspace.id, events));
      deliveries += stored.reduce((sum, event) => sum + event.deliveries, 0);
      recorded += size;
      // As a node notifies the owner of what it recorded.
      const owners = [...new Set(events.map(({ connectionId }) => connectionId))];
      await notifyHints(
        db,
        owners.map((connectionId) => JSON.stringify({ type: 'deliveries', connectionId } satisfies Hint)),
      );
    }
    return deliveries;
  };
}
