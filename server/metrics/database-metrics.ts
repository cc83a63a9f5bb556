import type { PoolStats } from '../../storage/postgres/database.js';
import { type CounterMetric, counter, gauge, type MetricsSource, type ThreadMetric } from './metric.js';

/** The pools of every thread, by name: the edge's, that of leases and health, and the two of each actor thread. */
function poolsOf(source: MetricsSource): [pool: string, stats: PoolStats][] {
  const threads = source.stats().hosts.flatMap(({ database }) => Object.entries(database));
  return [...Object.entries(source.pools()), ...threads];
}

/** One value of a pool, added up over the threads that have one of the name. */
function ofPools(read: (stats: PoolStats) => number) {
  return (source: MetricsSource) => {
    const sums = new Map<string, number>();
    for (const [pool, stats] of poolsOf(source)) sums.set(pool, (sums.get(pool) ?? 0) + read(stats));
    return [...sums].map(([pool, value]) => ({ labels: { pool }, value }));
  };
}

const FAILURES: CounterMetric = {
  name: 'database_statement_failures_total',
  type: 'counter',
  labels: ['pool', 'failure'],
  meaning:
    'Statements and transactions that failed: without a connection, with their answer lost, refused for the state of the database or for what they hold',
  bad: '`no_connection` while the database is reachable: the pool is too small. `answer_lost`: the way to it breaks. `refused_for_now`: locks, or a full disk.',
  labelsOf(counted) {
    const [pool = '', failure = ''] = counted.split(' ');
    return { pool, failure };
  },
  read: (source) =>
    poolsOf(source).map(([pool, { failures }]) =>
      Object.fromEntries(Object.entries(failures).map(([failure, count]) => [`${pool} ${failure}`, count])),
    ),
};

/** How this node finds the database. */
export const DATABASE_METRICS: readonly ThreadMetric[] = [
  gauge(
    {
      name: 'database_reachable',
      meaning: '1 while every pool of this process reaches the database',
      bad: '0: the node is not ready, and accepts nothing until it is reached again.',
    },
    (source) => Number(!source.outages.away),
  ),
  counter(
    {
      name: 'database_outages_total',
      meaning: 'Outages of the database as this process saw them: the log has the begin and the length of each',
      bad: 'Several an hour: the database or the way to it is unsteady.',
    },
    (source) => [source.outages.total],
  ),
  {
    name: 'database_connections_in_use',
    type: 'gauge',
    labels: ['pool'],
    meaning: 'Connections to the database that run a statement or a transaction',
    bad: 'At its most for minutes, with `database_statements_waiting` above 0: statements are slow, or the pool is too small.',
    read: ofPools(({ in_use }) => in_use),
  },
  {
    name: 'database_connections_idle',
    type: 'gauge',
    labels: ['pool'],
    meaning: 'Connections to the database that are open and unused',
    bad: 'None by itself.',
    read: ofPools(({ idle }) => idle),
  },
  {
    name: 'database_statements_waiting',
    type: 'gauge',
    labels: ['pool'],
    meaning: 'Statements and transactions that wait for a connection',
    bad: 'Above 0 for minutes: requests get slower, and are refused next.',
    read: ofPools(({ waiting }) => waiting),
  },
  FAILURES,
];
