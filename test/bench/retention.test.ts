import t from 'tap';
import { type Sizes, TABLES, type TableSize, tableVerdicts } from '../../bench/scenarios/retention/tables.js';

/** The same of every table at each of these moments. */
const samplesOf = (sizes: TableSize[]): Sizes[] =>
  sizes.map((size, i) => ({
    at: i * 60,
    tables: Object.fromEntries(TABLES.map((table) => [table, size])) as Sizes['tables'],
  }));

const levels = (sizes: TableSize[]) => tableVerdicts(samplesOf(sizes), 0.1).map(({ level }) => level);

const size = (rows: number, bytes: number): TableSize => ({ rows, bytes, dead: 0 });

t.test('tables that got free space in the first half and went on with it are level', async (t) => {
  t.strictSame(
    levels([size(100, 1_000), size(104, 1_800), size(103, 2_000), size(105, 2_020), size(104, 2_010)]),
    TABLES.map(() => true),
  );
});

t.test('tables whose bytes grow on are not, though as many rows go as come', async (t) => {
  t.strictSame(
    levels([size(100, 1_000), size(100, 1_300), size(100, 1_600), size(100, 1_900), size(100, 2_200)]),
    TABLES.map(() => false),
  );
});

t.test('neither are those whose rows grow into free space', async (t) => {
  t.strictSame(
    levels([size(100, 1_000), size(110, 1_000), size(120, 1_000), size(130, 1_000), size(140, 1_000)]),
    TABLES.map(() => false),
  );
});
