import t from 'tap';
import { timesInOrder } from '../../../server/routes/operation-times.js';
import type { OperationRow } from '../../../storage/model/records.js';

const at = (ms: number) => new Date(Date.UTC(2026, 0, 1) + ms).toISOString();

/** A row whose times these are, in milliseconds after some moment. */
function row(created: number, updated: number, timeline: number[], attempts: [number, number | null][]): OperationRow {
  return {
    created_at: new Date(at(created)),
    updated_at: new Date(at(updated)),
    timeline: timeline.map((ms) => ({ at: at(ms) })),
    attempts: attempts.map(([from, to]) => ({ started_at: at(from), completed_at: to === null ? null : at(to) })),
  } as unknown as OperationRow;
}

const shown = (one: OperationRow) => {
  const { created_at, updated_at, timeline, attempts } = timesInOrder(one);
  return [created_at, ...timeline.map((step) => step.at), updated_at, ...attempts.map(Object.values)];
};

t.test('what comes later is never shown as earlier, whoever had the clock', async (t) => {
  t.strictSame(shown(row(0, 9, [1, 2, 8], [[3, 7]])), [at(0), at(1), at(2), at(8), at(9), [at(3), at(7)]]);
  t.strictSame(
    shown(row(174, 5, [10, 3, 12], [[2, 1]])),
    [at(10), at(10), at(10), at(12), at(12), [at(10), at(10)]],
    'the database and an owner whose clocks differ from the edge',
  );
  t.strictSame(
    shown(
      row(
        0,
        0,
        [0, 5, 4, 6],
        [
          [5, 9],
          [7, null],
        ],
      ),
    ).at(-1),
    [at(9), null],
    'an attempt begins behind the one before',
  );
});
