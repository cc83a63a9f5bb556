import { randomBytes, randomUUID } from 'node:crypto';
import t from 'tap';
import { addProxy } from '../../../storage/connections/proxies.js';
import { rotateSecret, sealedSecrets } from '../../../storage/deliveries/signing-secrets.js';
import { insertSubscription } from '../../../storage/deliveries/subscriptions.js';
import { keyRing } from '../../../storage/secrets/encryption.js';
import { sealedUnder } from '../../../storage/secrets/key-usage.js';
import { reencryptAll } from '../../../storage/secrets/reencrypt.js';
import { filePartContext, sessionContext, subscriptionSecretContext } from '../../../storage/secrets/sealing.js';
import { freshDatabase } from '../../fixture/database.js';
import { insertSimulated, insertSocial, insertWorkspace } from '../../fixture/rows.js';

const [former, next] = [
  { id: 'former', key: randomBytes(32) },
  { id: 'next', key: randomBytes(32) },
];
const PROXY = { region: 'US', url: 'http://127.0.0.1:1', username: 'user', password: 'secret' };

t.test('what is stored is counted by the key it needs, of a large table its ends', async (t) => {
  const { db } = await freshDatabase(t);
  t.strictSame(await sealedUnder(db, 2), { usage: [], complete: true });
  for (const key of [former, former, next, next, next]) await addProxy(db, keyRing([key]), PROXY);
  await addProxy(db, keyRing([]), { region: 'US', url: 'http://127.0.0.1:1' });
  const column = 'regional_proxy.credentials_sealed';
  const all = [
    { column, key: 'former', rows: 2 },
    { column, key: 'next', rows: 3 },
  ];
  t.strictSame(await sealedUnder(db, null), { usage: all, complete: true });
  t.strictSame(await sealedUnder(db, 10), { usage: all, complete: true });
  t.strictSame(await sealedUnder(db, 2), {
    usage: [
      { column, key: 'former', rows: 2 },
      { column, key: 'next', rows: 1 },
    ],
    complete: false,
  });
});

t.test('a re-encryption reaches what a rotation of a signing secret has moved', async (t) => {
  const { db } = await freshDatabase(t);
  const connection = await insertSimulated(db, await insertWorkspace(db), 'ann');
  const id = randomUUID();
  const sealed = (secret: string) => keyRing([former]).seal(secret, subscriptionSecretContext(id));
  await insertSubscription(db, {
    ...{ id, connectionId: connection.id, eventTypes: ['message_sent'], callbackUrl: 'https://127.0.0.1/' },
    ...{ secretSealed: sealed('first'), destination: null },
  });
  const bounds = { secret_overlap_hours: 24, former_secrets: 5 };
  for (const secret of ['second', 'third']) await rotateSecret(db, id, sealed(secret), bounds);
  const usage = async () =>
    (await sealedUnder(db, null)).usage.filter(({ column }) => column.endsWith('.secret_sealed'));
  const under = (key: string) => [
    { column: 'subscription.secret_sealed', key, rows: 1 },
    { column: 'former_secret.secret_sealed', key, rows: 2 },
  ];
  t.strictSame(await usage(), under('former'));
  t.match(await reencryptAll(db, keyRing([next, former])), { resealed: { 'former_secret.secret_sealed': 2 } });
  t.strictSame(await usage(), under('next'), 'and it moves nothing by itself');
  const signing = await sealedSecrets(db, id);
  const opened = signing?.sealed.map((one) => keyRing([next]).open(one, subscriptionSecretContext(id)).toString());
  t.equal(opened?.[0], 'third');
  t.strictSame(opened?.slice(1).sort(), ['first', 'second']);
});

t.test('a re-encryption leaves and counts what it has no key for', async (t) => {
  const { db } = await freshDatabase(t);
  const { id } = await insertSocial(db, await insertWorkspace(db), 'ada');
  await db.query('testSecrets', 'update connection set session_sealed = $2, password_sealed = $3 where id = $1', [
    id,
    keyRing([former]).seal('{}', sessionContext(id)),
    '',
  ]);
  await addProxy(db, keyRing([{ id: 'lost', key: randomBytes(32) }]), PROXY);
  t.match(await reencryptAll(db, keyRing([next, former])), {
    resealed: { 'connection.session_sealed': 1, 'regional_proxy.credentials_sealed': 0 },
    unknown: { lost: 1 },
  });
  t.match(await reencryptAll(db, keyRing([next])), {
    resealed: { 'connection.session_sealed': 0 },
    unknown: { lost: 1 },
  });
});

t.test(
  'a file part whose bytes were changed ends a re-encryption: it is not passed by as one of a lost key',
  async (t) => {
    const { db } = await freshDatabase(t);
    const { id } = await insertSimulated(db, await insertWorkspace(db), 'ann');
    const [operation, attempt] = [randomUUID(), randomUUID()];
    const sealed = keyRing([former]).sealData(Buffer.from('a page'), filePartContext(operation, attempt, 0));
    const changed = Buffer.from(sealed);
    changed[changed.length - 1]! ^= 1;
    await db.query(
      'testFile',
      `with o as (
       insert into operation (id, workspace_id, connection_id, partition, capability, status, idempotency_key, fingerprint, input, result)
       select $1, workspace_id, id, partition, 'social.file.download', 'succeeded', 'k', '\\x00', '{}', '{}' from connection where id = $2)
     insert into operation_file (operation_id, attempt_id, part, bytes, sealed) values ($1, $3, 0, $4, true)`,
      [operation, id, attempt, changed],
    );
    await t.rejects(reencryptAll(db, keyRing([next, former])));
    await db.query('testMend', 'update operation_file set bytes = $1', [sealed]);
    t.match(await reencryptAll(db, keyRing([next, former])), { resealed: { 'operation_file.bytes': 1 } });
  },
);
