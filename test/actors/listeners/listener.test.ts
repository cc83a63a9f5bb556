import t, { type Test } from 'tap';
import { LIMITS } from '../../../actors/limits.js';
import { Listener, type ListenerOptions } from '../../../actors/listeners/listener.js';
import { Slots } from '../../../actors/slots.js';
import { isPinned, listenableConnection } from '../../../storage/connections/listeners.js';
import { addProxy } from '../../../storage/connections/proxies.js';
import { createLogger } from '../../../storage/log.js';
import { keyRing } from '../../../storage/secrets/encryption.js';
import { freshDatabase } from '../../fixture/database.js';
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

t.test('a refused session that the database does not take is refused once more, and then stored', async (t) => {
  const { db, connection } = await listenable(t);
  const states: string[] = [];
  let refusals = 0;
  const listener = new Listener({
    db,
    log: createLogger({ level: 'silent', format: 'json' }, {}),
    connection,
    epoch: () => 1,
    openings: new Slots(1),
    stream: ({ onEnd }) => onEnd({ reason: 'logged_out' }),
    sessionEnded: async () => {
      if (++refusals === 1) throw new Error('the connection to the database was lost');
    },
    silence_ms: 60_000,
    onState: ({ kind }) => states.push(kind),
    record: async () => {},
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
  type Stream = Parameters<ListenerOptions['stream']>[0];
  const opened = Promise.withResolvers<Stream>();
  const listener = new Listener({
    db,
    log: createLogger({ level: 'silent', format: 'json' }, {}),
    connection,
    epoch: () => 1,
    openings: new Slots(1),
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
