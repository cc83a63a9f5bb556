import { counterBy, type ThreadMetric } from './metric.js';

/** What goes by its age (STO-6); nothing unless a setting says so. */
export const RETENTION_METRICS: readonly ThreadMetric[] = [
  counterBy(
    'class',
    {
      name: 'retention_rows_erased_total',
      meaning:
        'Rows that this node erased by their age, by class; those that go along with a delivery or an operation are not counted',
      bad: 'Still while `retention_behind_seconds` grows: the log says what cannot be erased.',
    },
    (source) => [source.retained().erased],
  ),
  {
    name: 'retention_behind_seconds',
    type: 'gauge',
    labels: ['class'],
    meaning: 'How long ago, over all nodes, everything of a class that was too old was last gone',
    bad: 'Hours: what should be gone is there. Of a first run it is the backlog; otherwise the log says what cannot be erased.',
    read: (source) =>
      Object.entries(source.retained().behind_s).map(([name, value]) => ({ labels: { class: name }, value })),
  },
];
