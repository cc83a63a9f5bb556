import t from 'tap';
import type { AttemptPhase } from '../../../storage/model/records.js';
import { isPastBoundary, lostAttemptIsUnknown, pastBoundarySql } from '../../../storage/model/write-boundary.js';
import { freshDatabase } from '../../fixture/database.js';

const PHASES: AttemptPhase[] = ['preparing', 'reading', 'dispatching', 'confirming', 'done'];

t.test('only a write that was lost past its boundary is unknown', async (t) => {
  const unknown = (kind: 'read' | 'write') => PHASES.filter((phase) => lostAttemptIsUnknown({ kind, phase }));
  t.strictSame(unknown('write'), ['dispatching', 'confirming']);
  t.strictSame(unknown('read'), []);
});

t.test('recovery in SQL follows the same rule, of the last attempt', async (t) => {
  const { db } = await freshDatabase(t);
  for (const phase of PHASES) {
    const attempts = JSON.stringify([{ phase: 'dispatching' }, { phase }]);
    const [row] = await db.query<{ past: boolean }>(
      'testPastBoundary',
      `select ${pastBoundarySql('o')} as past from (select $1::jsonb as attempts) o`,
      [attempts],
    );
    t.equal(row?.past, isPastBoundary(phase), phase);
  }
});
