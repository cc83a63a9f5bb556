import t, { type Test } from 'tap';
import { LIMITS } from '../../../actors/limits.js';
import { EventBatches } from '../../../actors/listeners/event-batches.js';
import { Listener, type ListenerOptions } from '../../../actors/listeners/listener.js';
import { clearSession } from '../../../storage/connections/connection-changes.js';
import { findListener, listGaps } from '../../../storage/connections/listener-read.js';
import { isPinned, listenableConnection } from '../../../storage/connections/listeners.js';
import { addProxy } from '../../../storage/connections/proxies.js';
import { listEvents } from '../../../storage/deliveries/events.js';
import { createLogger } from '../../../storage/log/log.js';
import { FairSlots } from '../../../storage/process/fair-slots.js';
import { keyRing } from '../../../storage/secrets/encryption.js';
import { freshDatabase } from '../../fixture/database.js';
import { eventually } from '../../fixture/eventually.js';
import { insertSocial, insertWorkspace, pinConnection } from '../../fixture/rows.js';

/** A connection with a session behind a proxy, on a database of its own. */
async function listenable(t: Test) {
  const { db } = await freshDatabase(t);
  const { id } = await insertSocial(db, await insertWorkspace(db), 'ada');
  await pinConnection(db, id, (await addProxy(db, keyRing([]), { region: 'US', url: 'http://127.0.0.1:1' })).id);
  const connection = await listenableConnection(db, id);
  if (!connection || !isPinned(connection)) throw new Error('nothing to listen to');
  return { db, connection };
}

type Stream = Parameters<ListenerOptions['stream']>[0];

t.test('a refused session that the database does not take is refused once more, and then stored', async (t) => {
  const { db, connection } = await listenable(t);
  const states: string[] = [];
  let refusals = 0;
  const listener = new Listener({
    db,
    log: createLogger({ level: 'silent', format: 'json' }, {}),
    connection,
    epoch: () => 1,
    openings: new FairSlots(1),
    stream: ({ onEnd }) => onEnd({ reason: 'logged_out' }),
    sessionEnded: async () => {
      if (++refusals === 1) throw new Error('the connection to the database was lost');
    },
    silence_ms: 60_000,
    onState: ({ kind }) => states.push(kind),
    record: async () => true,
  });
  await listener.ended;
  t.strictSame(states, ['connecting', 'stopped', 'connecting', 'stopped']);
  t.equal(refusals, 2);
});

t.test('a provider that sends faster than its events are stored is held up, and nothing is lost', async (t) => {
  const { db, connection } = await listenable(t);
  const recorded: string[] = [];
  const states = new Set<string>();
  let store = () => {};
  const stored = new Promise<void>((resolve) => {
    store = resolve;
  });
  const opened = Promise.withResolvers<Stream>();
  const listener = new Listener({
    db,
    log: createLogger({ level: 'silent', format: 'json' }, {}),
    connection,
    epoch: () => 1,
    openings: new FairSlots(1),
    stream: (handlers) => {
      handlers.signal.addEventListener('abort', () => handlers.onEnd({ reason: 'aborted' }));
      opened.resolve(handlers);
    },
    sessionEnded: async () => {},
    silence_ms: 60_000,
    onState: ({ kind }) => states.add(kind),
    record: async ({ providerEventId }) => {
      await stored;
      recorded.push(providerEventId);
      return true;
    },
  });
  const stream = await opened.promise;
  const send = (number: number) =>
    stream.onFrame({ type: 'event', event: { providerEventId: String(number), type: 'message_sent', data: {} } });
  // The first frame also has a gap to look for.
  const numbers = Array.from({ length: LIMITS.stream_waiting_frames - 1 }, (_, number) => number);
  const held = numbers.map(send);
  t.strictSame(new Set(held.slice(0, -1)), new Set([undefined]), 'up to the bound it sends freely');
  t.ok(held.at(-1), 'then it waits');
  store();
  await held.at(-1);
  t.strictSame(recorded, numbers.map(String), 'until everything is stored, in order');
  t.equal(send(numbers.length), undefined, 'and sends freely again');
  await listener.close('test ended');
  t.strictSame([...states], ['connecting', 'connected', 'stopped']);
});

t.test('what a stream says after its session has ended is not stored, and a gap tells so', async (t) => {
  const { db, connection } = await listenable(t);
  const events = new EventBatches(db, () => {});
  const opened = Promise.withResolvers<Stream>();
  const listener = new Listener({
    db,
    log: createLogger({ level: 'silent', format: 'json' }, {}),
    connection,
    epoch: () => 1,
    openings: new FairSlots(1),
    stream: (handlers) => {
      handlers.signal.addEventListener('abort', () => handlers.onEnd({ reason: 'aborted' }));
      opened.resolve(handlers);
    },
    sessionEnded: async () => {},
    silence_ms: 60_000,
    record: (event) => events.add(connection.workspace_id, event),
  });
  const stream = await opened.promise;
  const send = (name: string) =>
    stream.onFrame({ type: 'event', event: { providerEventId: name, type: 'message_sent', data: {} } });
  const heard = async () =>
    (await listEvents(db, connection.id, 0, 100)).map(({ provider_event_id }) => provider_event_id);
  send('before');
  await eventually('the first is stored', heard, ({ length }) => length === 1);
  await db.transaction((tx) => clearSession(tx, connection.id));
  send('after');
  const gaps = await eventually(
    'a gap is open',
    () => listGaps(db, connection.id, 50),
    ({ length }) => length === 1,
  );
  t.match(gaps, [{ reason: 'session_changed', last_event_id: 'before', closed_at: null }]);
  await listener.close('connection_not_ready');
  t.notOk((await heard()).includes('after'));
  t.match(await findListener(db, connection.id, LIMITS.stream_stale_ms), { last_event_id: 'before' });
});
