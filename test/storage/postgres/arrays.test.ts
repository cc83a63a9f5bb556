import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import t from 'tap';
import { bigints, byteas, integers, jsonbs, smallints, texts, uuids } from '../../../storage/postgres/arrays.js';
import { freshDatabase } from '../../fixture/database.js';

t.test('arrays arrive as they were given, nulls and none at all with them', async (t) => {
  const { db } = await freshDatabase(t);
  const list = <T>(value: fc.Arbitrary<T>) => fc.array(fc.option(value), { maxLength: 6 });
  const text = fc.string({ unit: 'binary' }).map((value) => value.replaceAll('\0', '').toWellFormed());
  const given = fc.record({
    ids: list(fc.uuid()),
    texts: list(fc.oneof(text, fc.constantFrom('', 'NULL', '"', '\\', '{,}', 'ß€😀'))),
    jsons: list(fc.dictionary(fc.string({ unit: 'grapheme-ascii' }), fc.oneof(fc.integer(), text))),
    bytes: list(fc.uint8Array({ maxLength: 300 })),
    smallints: list(fc.integer({ min: -(2 ** 15), max: 2 ** 15 - 1 })),
    integers: list(fc.integer()),
    bigints: list(fc.maxSafeInteger()),
  });
  await fc.assert(
    fc.asyncProperty(given, async (one) => {
      const [row] = await db.query<Record<string, unknown>>(
        'testArrays',
        `select $1::uuid[] as ids, $2::text[] as texts, to_json($3::jsonb[]) as jsons, $4::bytea[] as bytes,
           to_json($5::smallint[]) as smallints, to_json($6::integer[]) as integers, to_json($7::bigint[]) as bigints`,
        [
          uuids(one.ids),
          texts(one.texts),
          jsonbs(one.jsons.map((value) => value && JSON.stringify(value))),
          byteas(one.bytes),
          smallints(one.smallints),
          integers(one.integers),
          bigints(one.bigints),
        ],
      );
      const bytes = one.bytes.map((value) => value && Buffer.from(value));
      t.strictSame(JSON.parse(JSON.stringify({ ...row })), JSON.parse(JSON.stringify({ ...one, bytes })));
    }),
    { numRuns: 60 },
  );
});

t.test('what is no id, or no number of its type, is refused', async (t) => {
  const id = '01890000-0000-7000-8000-000000000000';
  t.ok(uuids([id, id.toUpperCase()]));
  for (const wrong of [
    '',
    'id',
    id.slice(1),
    `${id}0`,
    id.replace('7', 'g'),
    id.replace('-', '0'),
    `${id.slice(0, -1)}é`,
  ])
    t.throws(() => uuids([wrong]), /not an id/, wrong);
  t.throws(() => smallints([2 ** 15]), RangeError);
  t.throws(() => integers([2 ** 31]), RangeError);
  t.throws(() => bigints([0.5]), RangeError);
});

t.test('a large value takes its own size once', async (t) => {
  const value = randomBytes(2 ** 20);
  t.ok(byteas([value]).length < value.length + 100);
  t.ok(jsonbs([JSON.stringify({ text: 'x'.repeat(2 ** 20) })]).length < 2 ** 20 + 200);
});
