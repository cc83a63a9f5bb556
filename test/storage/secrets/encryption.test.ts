import { randomBytes } from 'node:crypto';
import t from 'tap';
import { KeyUnknown, keyRing } from '../../../storage/secrets/encryption.js';
import * as sealing from '../../../storage/secrets/sealing.js';

const [former, next] = [
  { id: 'former', key: randomBytes(32) },
  { id: 'next', key: randomBytes(32) },
];

t.test('a key that comes last only decrypts: nodes with and without it read each other', async (t) => {
  const before = keyRing([former]);
  const during = keyRing([former, next]);
  const after = keyRing([next, former]);
  t.strictSame(during.keys, ['former', 'next']);
  for (const [one, other] of [
    [before, during],
    [during, before],
    [during, after],
    [after, during],
  ] as const) {
    t.equal(other.open(one.seal('secret', 'place'), 'place').toString(), 'secret');
  }
  t.throws(() => before.open(after.seal('secret', 'place'), 'place'), new KeyUnknown('next'));
});

t.test('a key that is missing is told apart from a value that was changed or moved', async (t) => {
  const ring = keyRing([former]);
  const sealed = keyRing([next]).seal('secret', 'place');
  t.ok(refusal(() => ring.open(sealed, 'place')) instanceof KeyUnknown);
  const own = ring.seal('secret', 'place');
  const changed = Buffer.from(own);
  changed[changed.length - 1]! ^= 1;
  for (const value of [changed, Buffer.alloc(0), Buffer.from([0]), Buffer.from([2, 6, ...Buffer.from('former')])]) {
    t.not(refusal(() => ring.open(value, 'place')) instanceof KeyUnknown, true);
  }
  t.not(refusal(() => ring.open(own, 'elsewhere')) instanceof KeyUnknown, true);
});

t.test('a value opens in its own place alone: no other row, and no other column', async (t) => {
  const ring = keyRing([former]);
  const { fingerprintContext, filePartContext, ...ofRows } = sealing;
  const places = [
    fingerprintContext,
    ...['a', 'b'].flatMap((id) => Object.values(ofRows).map((place) => place(id))),
    ...[filePartContext('a', 'x', 0), filePartContext('b', 'x', 0), filePartContext('a', 'y', 0)],
    filePartContext('a', 'x', 1),
  ];
  t.ok(places.length > 20);
  for (const seal of ['seal', 'sealData'] as const) {
    for (const place of places) {
      const sealed = ring[seal]('secret', place);
      const opened = places.filter((other) => {
        try {
          return ring.open(sealed, other).toString() === 'secret';
        } catch {
          return false;
        }
      });
      t.strictSame(opened, [place], seal);
    }
  }
});

function refusal(open: () => unknown): unknown {
  try {
    open();
  } catch (error) {
    return error;
  }
  throw new Error('it was opened');
}
