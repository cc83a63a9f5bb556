import { randomBytes } from 'node:crypto';
import t, { type Test } from 'tap';
import { v7 as uuidv7 } from 'uuid';
import { Bus, type RemoteWait } from '../../../actors/node/bus.js';
import { RemoteWaits } from '../../../actors/node/remote-waits.js';
import { createLogger } from '../../../storage/log/log.js';
import { findOperations } from '../../../storage/operations/operations.js';
import type { Database } from '../../../storage/postgres/database.js';
import { keyRing } from '../../../storage/secrets/encryption.js';
import { freshDatabase } from '../../fixture/database.js';
import { putOperation } from '../../server/rows.js';
import { linkedNode } from './node-fixture.js';
import { addSilentNode, lostOperation } from './ownership-fixture.js';

/** What a bus heard, one after the other. */
class Heard<T> {
  readonly #waiting: ((one: T) => void)[] = [];
  readonly #came: T[] = [];

  push(one: T): void {
    const next = this.#waiting.shift();
    if (next) next(one);
    else this.#came.push(one);
  }

  next(): Promise<T> {
    const one = this.#came.shift();
    return one === undefined ? new Promise((resolve) => this.#waiting.push(resolve)) : Promise.resolve(one);
  }
}

/** The bus of a node that there is nothing else of. */
async function listening(t: Test, { url, db }: { url: string; db: Database }, nodeId: string) {
  const log = createLogger({ level: 'silent', format: 'json' }, {});
  const bus = new Bus({ db, nodeId, databaseUrl: url, ring: keyRing([{ id: 'test', key: randomBytes(32) }]), log });
  t.teardown(() => bus.close());
  const [awaited, woken] = [new Heard<RemoteWait>(), new Heard<string>()];
  await bus.listen({ hint() {}, awaited: (wait) => awaited.push(wait), woken: (id) => woken.push(id), gap() {} });
  return { bus, awaited, woken };
}

/** An operation that runs; the node at which it is awaited, and its owner with what that notes. */
async function awaitedOperation(t: Test) {
  const database = await freshDatabase(t);
  const [waiter, owner] = [await listening(t, database, 'waiter'), await listening(t, database, 'owner')];
  const { id } = await lostOperation(database.db);
  const waits = new RemoteWaits(database.db, (node, operationId) => owner.bus.wake(node, operationId));
  const announce = async (settled: boolean) => {
    waiter.bus.announce({ operationId: id, connectionId: uuidv7(), settled });
    waits.add(await owner.awaited.next());
  };
  return { db: database.db, id, waiter, owner, waits, announce };
}

t.test('who waits at another node is woken when the owner ends the operation, and once', async (t) => {
  const { id, waiter, waits, announce } = await awaitedOperation(t);
  await announce(false);
  waits.ended(uuidv7()); // another, which nobody waits for
  waits.ended(id);
  t.equal(await waiter.woken.next(), id);
  waits.ended(id);
  await announce(false);
  waits.ended(id);
  t.equal(await waiter.woken.next(), id, 'who waits anew is woken anew');
});

t.test('an operation that ended before its owner heard of the wait is told by its row', async (t) => {
  const { db, id, waiter, announce } = await awaitedOperation(t);
  await putOperation(db, id, 'succeeded', {});
  await announce(false);
  t.equal(await waiter.woken.next(), id);
});

t.test('of a settled operation something else is awaited: its row wakes nobody, its owner does', async (t) => {
  const { db, id, waiter, owner, waits, announce } = await awaitedOperation(t);
  await putOperation(db, id, 'succeeded', {});
  await announce(true);
  owner.bus.wake('waiter', 'a mark');
  t.equal(await waiter.woken.next(), 'a mark', 'nothing came before');
  waits.ended(id);
  t.equal(await waiter.woken.next(), id);
});

t.test('a wait goes on when its hint is lost, and finds the owner that there is by then', async (t) => {
  const database = await freshDatabase(t);
  const { url, db } = database;
  const { id } = await lostOperation(db);
  const [row] = await findOperations(db, [id]);
  const owner = await listening(t, database, await addSilentNode(db));
  await db.query('testHold', `update partition set node_id = $1, lease_until = 'infinity'`, [await addSilentNode(db)]);
  const { node } = await linkedNode(t, url, 1);
  const first = node.awaitable(row!, 0, 60_000);
  t.equal((await owner.awaited.next()).operationId, id);
  await first; // nobody has woken it: the slow poll lets the caller read the row
  const second = node.awaitable(row!, 0, 60_000);
  const wait = await owner.awaited.next();
  t.match(
    wait,
    { operationId: id, connectionId: row!.connection_id, settled: false },
    'announced again, to a new owner',
  );
  owner.bus.wake(wait.node, id);
  await second;
});
