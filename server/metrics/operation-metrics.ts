import type { HostStats } from '../../actors/messages.js';
import { OPERATION_BOUNDS } from '../../actors/operations/operation-counters.js';
import { counter, counterBy, gauge, type MetricsSource, ofHosts, sum, type ThreadMetric } from './metric.js';

const hosts = (source: MetricsSource) => source.stats().hosts;

/** Operations that wait for their turn. */
export const queuedOf = (hosts: readonly HostStats[]): number =>
  sum(hosts, ({ queued, measured }) => queued + (measured?.unfetched ?? 0));

/** How long the oldest of them has waited. */
export const oldestQueued_s = (hosts: readonly HostStats[]): number =>
  Math.max(
    0,
    ...hosts.map(({ oldest_queued_s, measured }) => Math.max(oldest_queued_s, measured?.oldest_unfetched_s ?? 0)),
  );

/** The key of an ended operation's histograms: `endKey`. */
const capabilityAndOutcome = (key: string): Record<string, string> => {
  const [capability = '', outcome = ''] = key.split(' ');
  return { capability, outcome };
};

/** What becomes of operations. */
export const OPERATION_METRICS: readonly ThreadMetric[] = [
  gauge(
    {
      name: 'operations_queued',
      meaning: 'Operations that wait for their turn, in the partitions of this node: in mailboxes, or not fetched yet',
      bad: 'Growth for minutes: more is submitted than executed.',
    },
    (source) => queuedOf(hosts(source)),
  ),
  gauge(
    {
      name: 'operations_queued_oldest_seconds',
      meaning:
        'Age of the oldest operation that waits for its turn, in the partitions of this node, since it was accepted',
      bad: 'Above what clients wait for. Growth at the pace of the clock: its connection, or its partition, stands still.',
    },
    (source) => oldestQueued_s(hosts(source)),
  ),
  ofHosts(
    {
      name: 'mailbox_operations',
      meaning: 'Of the operations that wait, those in memory',
      bad: 'Far below `operations_queued`: mailboxes are not opened.',
    },
    (host) => host.queued,
  ),
  ofHosts(
    {
      name: 'mailboxes_full',
      meaning: 'Connections whose mailbox takes no more',
      bad: 'Above 0: submissions to them are answered 503 `overloaded`.',
    },
    (host) => host.full_mailboxes,
  ),
  ofHosts(
    {
      name: 'operations_running',
      meaning: 'Operations under way',
      bad: '0 while `operations_queued` is not: nothing is executed.',
    },
    (host) => host.running,
  ),
  ofHosts(
    {
      name: 'operations_waiting_user',
      meaning: 'Of these, those that wait for their user to answer a challenge',
      bad: 'Many at once: the provider challenges logins that passed before.',
    },
    (host) => host.waiting_user,
  ),
  counter(
    {
      name: 'operations_submitted_total',
      meaning: 'Operations stored by this node',
      bad: 'None while clients submit: requests are refused.',
    },
    (source) => hosts(source).map((host) => host.submitted),
  ),
  counter(
    {
      name: 'operation_attempts_total',
      meaning: 'Attempts that were started',
      bad: 'Far more than `operations_finished_total`: attempts are repeated.',
    },
    (source) => hosts(source).map((host) => host.started),
  ),
  counterBy(
    'status',
    {
      name: 'operations_finished_total',
      meaning: 'Operations that ended in an attempt, by status',
      bad: '`outcome_unknown` at all: each is a write that somebody has to look at. `failed` near `succeeded`: see `operation_failures_total`.',
    },
    (source) => hosts(source).map((host) => host.finished),
  ),
  counterBy(
    'error_code',
    {
      name: 'operation_failures_total',
      meaning: 'Operations that failed, by `error_code`',
      bad: '`internal_error`: a bug. `parsing_error`: the site has changed. `browser_unavailable`, `proxy_error`: that part is ill. `provider_*`: the provider refuses.',
    },
    (source) => hosts(source).map((host) => host.failures),
  ),
  {
    name: 'operation_queued_seconds',
    type: 'histogram',
    labels: ['capability', 'outcome'],
    meaning: 'From acceptance to the first attempt, by capability and status at the end',
    bad: 'A 99th percentile above what clients wait for: `operations_queued` tells whether it is all connections.',
    bounds: OPERATION_BOUNDS.queued_s,
    labelsOf: capabilityAndOutcome,
    read: (source) => hosts(source).map((host) => host.queued_s),
  },
  {
    name: 'operation_running_seconds',
    type: 'histogram',
    labels: ['capability', 'outcome'],
    meaning: 'Running time of ended operations over all attempts, without waits for the user, by capability and status',
    bad: 'A capability that takes twice as long as last week: the site, a proxy or the browsers are slow. 300 s is the deadline.',
    bounds: OPERATION_BOUNDS.running_s,
    labelsOf: capabilityAndOutcome,
    read: (source) => hosts(source).map((host) => host.running_s),
  },
  ofHosts(
    {
      name: 'operations_unknown_outcome',
      meaning:
        'Operations of the last 24 hours whose outcome is unknown and that nobody has looked at (`reconcile`), in the partitions of this node',
      bad: 'Above 0: writes that may have happened wait for somebody to look.',
    },
    (host) => host.measured?.unknown_outcomes ?? 0,
  ),
  counterBy(
    'found',
    {
      name: 'operation_looks_total',
      meaning:
        'Looks at where an unknown write would show (`reconcile`), by how many matches were found, or why that is not known',
      bad: '`failed` or `too_many_newer` above the rest: looks tell nothing, and people have to.',
    },
    (source) => hosts(source).map((host) => host.looks),
  ),
  counterBy(
    'found',
    {
      name: 'operation_orphans_total',
      meaning:
        'Where rows and memory did not agree, put right at once: `operation`, one that has not ended and that no mailbox covers; `row`, a mailbox that is open in its row and in no memory; `memory`, operations in memory without a job',
      bad: 'Above 0: something is wrong with the service. Keep the logs around `orphans:` and report it.',
    },
    (source) => hosts(source).map((host) => host.orphans),
  ),
  {
    name: 'operation_batch_items',
    type: 'histogram',
    labels: ['batch'],
    meaning:
      'Items of one statement: submissions, starts, write boundaries, finishes; partitions, of openings and readings',
    bad: 'Always near 256: the database is what the threads wait for.',
    bounds: OPERATION_BOUNDS.batch_items,
    labelsOf: (batch) => ({ batch }),
    read: (source) => hosts(source).map((host) => host.batches),
  },
];
