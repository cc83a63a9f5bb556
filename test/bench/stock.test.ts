import t from 'tap';
import type { Cost } from '../../bench/kit/cost/cost.js';
import { spreadOf } from '../../bench/kit/spread.js';
import { compare, costsOf, type Turn } from '../../bench/scenarios/stock/turn.js';

const cost = (us: number, wal_bytes?: number): Cost => ({
  ...{ service_us: spreadOf([us]), postgres_us: spreadOf([us * 2]), operations: 10 },
  ...(wal_bytes !== undefined && { wal_bytes: spreadOf([wal_bytes]) }),
});

const turn = (rate: number, ms: number, costs: Turn['costs']): Turn => ({
  figures: [
    { name: 'rate', unit: '/s', better: 'more', value: rate },
    { name: 'p50', unit: 'ms', better: 'less', value: ms, goal: 10 },
  ],
  costs,
  faults: [],
});

const turns = {
  stock: [turn(80, 3, { read: cost(40, 500) }), turn(120, 5, { read: cost(60) })],
  embedded: [turn(200, 2, { read: cost(20, 500) }), turn(200, 2, { read: cost(20, 500) })],
};

t.test('medians of the turns are compared, and worse is less of a rate and more of a time', async (t) => {
  t.match(compare('submit', turns), [
    { name: 'submit: rate', unit: '/s', stock: { median: 100, rounds: [80, 120] }, ratio: 0.5, worse: 2 },
    { name: 'submit: p50', unit: 'ms', stock: { median: 4 }, embedded: { median: 2 }, ratio: 2, worse: 2, goal: 10 },
  ]);
});

t.test('what an operation took is told for each side over all its turns', async (t) => {
  const costs = costsOf('submit', turns);
  t.same(Object.keys(costs), ['submit: read, stock', 'submit: read, embedded']);
  t.match(costs['submit: read, stock'], { service_us: { median: 50 }, postgres_us: { median: 100 }, operations: 20 });
  t.notOk(costs['submit: read, stock']?.wal_bytes, 'what a turn could not read is left out');
  t.match(costs['submit: read, embedded'], { wal_bytes: { median: 500, rounds: [500, 500] } });
});
