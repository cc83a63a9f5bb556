import { randomBytes } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { SessionSaves } from '../../actors/session-saves.js';
import { FaultyLink } from '../../bench/scenarios/chaos/link.js';
import type { Session } from '../../browser-pool/session.js';
import { createLogger } from '../../storage/log/log.js';
import { openDatabase } from '../../storage/postgres/database.js';
import { keyRing } from '../../storage/secrets/encryption.js';
import { sessionContext } from '../../storage/secrets/sealing.js';
import { freshDatabase } from '../fixture/database.js';
import { insertSocial, insertWorkspace } from '../fixture/rows.js';

const ring = keyRing([{ id: 'test', key: randomBytes(32) }]);

const session = (values: Record<string, string>) =>
  JSON.stringify({
    cookies: Object.entries(values).map(([name, value]) => ({
      ...{ name, value, domain: '.social.test', path: '/', expires: -1 },
      ...{ httpOnly: true, secure: true, sameSite: 'Lax' },
    })),
    origins: [],
  });

/** A connection with a session, and the saves of a thread that reaches the database through a link. */
async function fixture(t: Test) {
  const { db, url } = await freshDatabase(t);
  const { id } = await insertSocial(db, await insertWorkspace(db), 'ada');
  const sealed = ring.seal(session({ token: '1' }), sessionContext(id));
  await db.query('testSession', 'update connection set session_sealed = $2 where id = $1', [id, sealed]);
  const link = await FaultyLink.open(Number(new URL(url).port));
  t.teardown(() => link.close());
  const limits = { statement_ms: 600, lock_ms: 200, connect_ms: 600, idle_transaction_ms: 5_000 };
  const thread = openDatabase({
    url: link.through(url),
    limits,
    applicationName: 'test',
    onError: () => {},
    maxConnections: 2,
  });
  t.teardown(() => thread.close());
  const owner: { epoch: number | undefined } = { epoch: 0 };
  const log = createLogger({ level: 'silent', format: 'json' }, {});
  const seals = { count: 0 };
  const seal: typeof ring.seal = (text, context) => {
    seals.count++;
    return ring.seal(text, context);
  };
  const saves = new SessionSaves({ db: thread, ring: { ...ring, seal }, log, epoch: () => owner.epoch });
  const save = (base: Record<string, string>, renewed: Record<string, string>) =>
    saves.save({ connectionId: id, stateRevision: 1, base: session(base), session: session(renewed) });
  const stored = async () => {
    await saves.settled(id);
    const [row] = await db.query<{ session_sealed: Buffer }>(
      'testStored',
      'select session_sealed from connection where id = $1',
      [id],
    );
    const { cookies } = JSON.parse(ring.open(row!.session_sealed, sessionContext(id)).toString('utf8')) as Session;
    return Object.fromEntries(cookies.map(({ name, value }) => [name, value]));
  };
  return { saves, save, stored, seals, link, owner, id };
}

t.test('renewals are stored in their order, those that wait together', async (t) => {
  const { saves, save, stored, seals, id } = await fixture(t);
  t.equal(saves.settled(id), undefined);
  for (let n = 1; n < 100; n++) save({ token: `${n}` }, { token: `${n + 1}` });
  save({ token: '1' }, { token: '1', seen: 'yes' });
  t.strictSame(await stored(), { token: '100', seen: 'yes' }, 'with what another holder was given meanwhile');
  t.equal(seals.count, 3, 'the first, those that waited for it, and that of the other');
  t.equal(saves.settled(id), undefined);
});

t.test('a save that finds no database is stored when there is one again', async (t) => {
  const { save, stored, link } = await fixture(t);
  link.refuse();
  save({ token: '1' }, { token: '2' });
  save({ token: '2' }, { token: '3' });
  setTimeout(() => link.accept(), 1_000);
  t.strictSame(await stored(), { token: '3' });
});

t.test('a thread that has let its partition go stores what came before, and nothing that comes after', async (t) => {
  const { save, stored, owner } = await fixture(t);
  save({ token: '1' }, { token: '2' });
  owner.epoch = undefined;
  save({ token: '2' }, { token: '3' });
  t.strictSame(await stored(), { token: '2' });
});

t.test('who is refused waits for the answers to others, and for what they bring to be stored', async (t) => {
  const { saves, save, stored, id } = await fixture(t);
  const { signal } = new AbortController();
  await saves.quiet(id, signal);
  const answered = [saves.use(id), saves.use(id)];
  let quiet = false;
  const waits = saves.quiet(id, signal).then(() => {
    quiet = true;
  });
  const later = saves.use(id);
  answered[0]?.();
  await turn();
  t.equal(quiet, false, 'for all of them');
  save({ token: '1' }, { token: '2' });
  answered[1]?.();
  await waits;
  t.equal(saves.settled(id), undefined);
  t.strictSame(await stored(), { token: '2' });

  const aborted = new AbortController();
  const givenUp = saves.quiet(id, aborted.signal);
  aborted.abort();
  await givenUp;
  await saves.quiet(id, aborted.signal);
  later();
  await saves.quiet(id, signal);
});

t.test('who is refused waits no longer once its own run is stopped', async (t) => {
  const { saves, id } = await fixture(t);
  const stop = new AbortController();
  const answered = saves.use(id);
  const waits = saves.quiet(id, stop.signal);
  stop.abort();
  await waits; // although the other one has no answer
  t.equal(saves.settled(id), undefined);
  answered();
});
