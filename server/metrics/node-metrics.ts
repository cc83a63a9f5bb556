import { readFileSync } from 'node:fs';
import { counter, type GaugeValue, gauge, type MetricsSource, ofHosts, type ThreadMetric } from './metric.js';

/** The process and its threads. */
export const NODE_METRICS: readonly ThreadMetric[] = [
  {
    name: 'build_info',
    type: 'gauge',
    labels: ['version', 'node'],
    meaning: '1, with the version of the service and of Node',
    bad: 'Two versions for longer than a rolling restart takes: a node was left behind.',
    read: () => [{ labels: { version: VERSION, node: process.version }, value: 1 }],
  },
  {
    name: 'node_ready',
    type: 'gauge',
    labels: [],
    meaning: '1 while this node takes and executes work: what `/readyz` answers',
    bad: '0 for longer than a start: `/readyz` names what is lacking.',
    read: async (source) => [{ labels: {}, value: Number((await source.unreadyReasons()).length === 0) }],
  },
  gauge(
    {
      name: 'node_partitions',
      meaning: 'Partitions this node owns, of 64',
      bad: 'Over all nodes together below 64 for longer than a lease: operations of the rest are not executed.',
    },
    (source) => source.status().partitions,
  ),
  gauge(
    {
      name: 'actor_threads',
      meaning: 'Actor threads that live',
      bad: 'Below `ACTOR_THREADS`: a thread died and is being replaced; 0: nothing is executed.',
    },
    (source) => source.status().actorThreads,
  ),
  gauge(
    {
      name: 'browser_threads',
      meaning: 'Browser threads that live',
      bad: 'Below `BROWSER_THREADS`: a thread died and is being replaced; 0: `social` operations wait.',
    },
    (source) => source.status().browserThreads,
  ),
  counter(
    {
      name: 'thread_restarts_total',
      meaning: 'Threads that died, or hung, and were replaced',
      bad: 'Any growth: the log has a line of each with its cause.',
    },
    (source) => [source.stats().threadRestarts],
  ),
  {
    name: 'event_loop_lag_seconds',
    type: 'gauge',
    labels: ['thread'],
    meaning: 'The longest that the event loop of a thread was held up in the last 15 to 30 seconds',
    bad: 'Above 1 s again and again: the machine lacks processors, or something blocks the thread. Above 6 s leases may run out.',
    read: lagByThread,
  },
  ofHosts(
    {
      name: 'connection_actors',
      meaning: 'Connections held in memory',
      bad: 'None by itself: those at work. It grows with `mailbox_operations`.',
    },
    (host) => host.connections,
  ),
  counter(
    {
      name: 'partitions_reconciled_total',
      meaning: 'Partitions taken again because an answer was lost, or rows and memory differed',
      bad: 'Steady growth while the database is reachable: answers are lost on the way to it.',
    },
    (source) => source.stats().hosts.map((host) => host.reconciled),
  ),
];

const { version: VERSION } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

function lagByThread(source: MetricsSource): GaugeValue[] {
  const { hosts, browsers } = source.stats();
  const named = (name: string, threads: readonly { loop_lag_s: number }[]) =>
    threads.map(({ loop_lag_s }, index) => ({ labels: { thread: `${name}-${index}` }, value: loop_lag_s }));
  return [
    { labels: { thread: 'main' }, value: source.mainLag_s() },
    ...named('actors', hosts),
    ...named('browsers', browsers),
  ];
}
