import { randomBytes } from 'node:crypto';
import t from 'tap';
import { Bus } from '../../../actors/node/bus.js';
import type { Hint } from '../../../actors/system.js';
import { FaultyLink } from '../../../bench/scenarios/chaos/link.js';
import { createLogger } from '../../../storage/log/log.js';
import { keyRing } from '../../../storage/secrets/encryption.js';
import { freshDatabase } from '../../fixture/database.js';
import { eventually } from '../../fixture/eventually.js';

t.test('a bus that lost its link listens again at once, and says that it missed something', async (t) => {
  const { url, db } = await freshDatabase(t);
  const link = await FaultyLink.open(Number(new URL(url).port));
  t.teardown(() => link.close());
  const log = createLogger({ level: 'silent', format: 'json' }, {});
  const ring = keyRing([{ id: 'test', key: randomBytes(32) }]);
  const bus = new Bus({ db, nodeId: 'one', databaseUrl: link.through(url), ring, log });
  t.teardown(() => bus.close());
  const heard: Hint[] = [];
  let gaps = 0;
  await bus.listen({ hint: (hint) => heard.push(hint), awaited() {}, woken() {}, gap: () => gaps++ });
  t.equal(gaps, 1, 'what was sent before it listened was not heard');
  const hears = async (connectionId: string) => {
    bus.send({ type: 'operations', connectionId });
    await eventually(
      'the hint is heard',
      async () => heard.some((hint) => hint.connectionId === connectionId),
      Boolean,
    );
  };
  await hears('before');

  link.cut();
  await eventually(
    'it listens again after a cut',
    async () => gaps,
    (count) => count === 2,
  );
  await hears('cut');

  link.stall('both');
  bus.send({ type: 'operations', connectionId: 'stalled' });
  await eventually(
    'it noticed the stall and tries anew',
    async () => link.connections,
    (count) => count > 1,
  );
  link.pass();
  await eventually(
    'it listens again after a stall',
    async () => gaps,
    (count) => count === 3,
  );
  await hears('passing');

  link.deaf();
  await eventually(
    'it noticed that nothing is answered',
    async () => link.connections,
    (count) => count > 1,
  );
  link.pass();
  await eventually(
    'it listens again after a deaf link',
    async () => gaps,
    (count) => count > 3,
  );
  const code: Hint = { type: 'code', connectionId: 'c', operationId: 'o', challengeId: 'ch', code: '123456' };
  bus.send(code);
  await eventually(
    'a code crosses',
    async () => heard.at(-1),
    (hint) => hint?.type === 'code',
  );
  t.strictSame(heard.at(-1), code);
});
