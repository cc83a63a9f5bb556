import pg from 'pg';
import t from 'tap';
import { Batcher } from '../../../storage/postgres/batcher.js';
import { Portion } from '../../../storage/postgres/divided.js';
import { AnswerLost, NotSent, outcomeUnknown } from '../../../storage/postgres/liveness.js';

const TIME_LIMIT = '57014';
const refused = (code: string) => Object.assign(new pg.DatabaseError('refused', 0, 'error'), { code });

/** Items like `a1`: the first of tenant a. `fails` says why a flush of these fails, if it does. */
function divided(fails: (items: string[]) => unknown, within_ms = 10_000) {
  const flushed: string[] = [];
  const batcher = new Batcher<string, string>({
    ...{ maxItems: 100, linger_ms: 0, concurrency: 1, bound: 1_000 },
    divide: { tenant: (item) => item[0] as string, within_ms },
    flush: async (items) => {
      flushed.push(items.join(' '));
      const error = await fails(items);
      if (error) throw error;
      return items;
    },
  });
  const settle = async (items: string[]) => {
    const settled = await Promise.allSettled(items.map((item) => batcher.add(item)));
    return new Map(settled.map((one, i) => [items[i] as string, one.status === 'rejected' ? one.reason : one.value]));
  };
  return { batcher, flushed, settle };
}

const numbered = (tenant: string, count: number) => Array.from({ length: count }, (_, i) => `${tenant}${i + 1}`);

t.test('a batch is divided by tenant, the smallest first, then by halves, until what fails stands alone', async (t) => {
  const bad = refused('22021');
  const { flushed, settle } = divided((items) => (items.includes('a3') ? bad : undefined));
  const settled = await settle(['a1', 'a2', 'a3', 'b1', 'a4', 'a5', 'a6', 'c1', 'c2']);
  t.equal(settled.get('a3'), bad);
  settled.delete('a3');
  for (const [item, out] of settled) t.equal(out, item);
  t.strictSame(flushed, [
    'a1 a2 a3 b1 a4 a5 a6 c1 c2',
    ...['b1', 'c1 c2', 'a1 a2 a3 a4', 'a1 a2', 'a3 a4 a5 a6', 'a3 a4', 'a3', 'a4', 'a5 a6'],
  ]);
});

for (const code of ['57014', '40P01', '40001', '55P03', '22P02', '53200']) {
  t.test(`a batch that failed with ${code} is divided`, async (t) => {
    const { settle } = divided((items) => (items.includes('a1') ? refused(code) : undefined));
    const settled = await settle(['a1', 'b1', 'a2']);
    t.match(settled.get('a1'), { code });
    t.equal(settled.get('b1'), 'b1');
    t.equal(settled.get('a2'), 'a2');
  });
}

t.test('a statement of too many items falls to quarters, and costs few more at their limit', async (t) => {
  const { flushed, settle } = divided((items) => (items.length > 5 ? refused(TIME_LIMIT) : undefined));
  const items = numbered('a', 99);
  const settled = await settle([...items, 'b1']);
  t.strictSame([...settled.values()], [...items, 'b1']);
  const sizes = flushed.map((flush) => flush.split(' ').length);
  t.strictSame(sizes.slice(0, 4), [100, 1, 25, 6]);
  t.equal(sizes.filter((size) => size > 5).length, 3);
  t.strictSame(sizes.slice(4), Array(99).fill(1));
});

t.test('what comes while its tenant is divided stays behind it; what comes of others does not wait', async (t) => {
  const gate = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const failed = Promise.withResolvers<void>();
  const { batcher, flushed } = divided(async (items) => {
    if (items.length === 3) {
      begun.resolve();
      await failed.promise;
      return refused(TIME_LIMIT);
    }
    if (items[0] === 'a1') await gate.promise;
    return undefined;
  });
  const first = ['a1', 'a2', 'b1'].map((item) => batcher.add(item));
  await begun.promise;
  const second = batcher.add('a3'); // waits behind the batch that fails
  failed.resolve();
  await first[2];
  const third = batcher.add('a4');
  t.equal(await batcher.add('c1'), 'c1', 'beside a part that is under way');
  gate.resolve();
  t.strictSame(await Promise.all([first[0], first[1], second, third]), ['a1', 'a2', 'a3', 'a4']);
  await batcher.drained();
  t.strictSame(flushed, ['a1 a2 b1', 'b1', 'a1', 'c1', 'a2', 'a3 a4']);
});

t.test('an answer that is lost in the middle ends the division', async (t) => {
  const lost = new AnswerLost(new Error('cut'));
  const { batcher, flushed, settle } = divided((items) => {
    if (items.includes('a1') && items.includes('b1')) return refused(TIME_LIMIT);
    return items.includes('b1') ? lost : undefined;
  });
  const settled = await settle(['a1', 'b1', 'b2', 'c1', 'c2', 'c3']);
  t.equal(settled.get('a1'), 'a1', 'what was stored before is told');
  t.equal(settled.get('b1'), lost);
  for (const item of ['b2', 'c1', 'c2', 'c3']) {
    t.ok(settled.get(item) instanceof NotSent, `${item} was not sent again`);
    t.notOk(outcomeUnknown(settled.get(item)));
  }
  t.strictSame(flushed, ['a1 b1 b2 c1 c2 c3', 'a1', 'b1']);
  t.equal(await batcher.add('b3'), 'b3', 'and the next batch is as any');
});

t.test('a lost answer, or a full disk, is that of the whole batch', async (t) => {
  for (const error of [new AnswerLost(new Error('cut')), refused('53100'), refused('25006')]) {
    const { flushed, settle } = divided(() => error);
    t.strictSame([...(await settle(['a1', 'b1'])).values()], [error, error]);
    t.equal(flushed.length, 1);
  }
});

t.test('an item that failed does not wait for its part for ever', async (t) => {
  const { flushed, settle } = divided(() => refused(TIME_LIMIT), -1);
  const settled = await settle(['a1', 'a2', 'b1']);
  for (const error of settled.values()) t.match(error, { code: TIME_LIMIT });
  t.equal(flushed.length, 1);
});

t.test('a portion grows again, but not to what hit the time limit', (t) => {
  const portion = new Portion(100);
  t.ok(portion.failed(refused('40P01')));
  t.equal(portion.size, 50);
  portion.succeeded();
  t.equal(portion.size, 100);
  t.ok(portion.failed(refused(TIME_LIMIT)));
  portion.succeeded();
  t.equal(portion.size, 25);
  for (const size of [6, 1]) {
    t.ok(portion.failed(refused(TIME_LIMIT)));
    t.equal(portion.size, size);
  }
  t.notOk(portion.failed(refused(TIME_LIMIT)), 'one alone');
  t.end();
});
