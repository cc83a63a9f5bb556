import type { HostStats } from '../../actors/messages.js';
import type { BrowserStats } from '../../browser-pool/messages.js';
import { counter, type GaugeMetric, gauge, sum, type ThreadMetric } from './metric.js';

/** What the node, its actor threads and its browser threads hold and did. */
export const NODE_METRICS: readonly ThreadMetric[] = [
  gauge('node_ready', '1 while this node takes and executes work', (source) =>
    Number(source.status().state === 'running'),
  ),
  gauge('node_partitions', 'Partitions this node owns, of 64', (source) => source.status().partitions),
  gauge('actor_threads', 'Actor threads that live', (source) => source.status().actorThreads),
  gauge('browser_threads', 'Browser threads that live', (source) => source.status().browserThreads),

  ofHosts('connection_actors', 'Connections held in memory', (host) => host.connections),
  ofHosts('mailbox_operations', 'Operations waiting in memory', (host) => host.queued),
  ofHosts('operations_running', 'Operations under way', (host) => host.running),
  ofHosts('listeners', 'Event streams held open', (host) => host.listeners),
  counter('operations_submitted_total', 'Operations stored', (source) =>
    source.stats().hosts.map((host) => host.submitted),
  ),
  counter(
    'partitions_reconciled_total',
    'Partitions taken again because an answer was lost, or rows and memory differed',
    (source) => source.stats().hosts.map((host) => host.reconciled),
  ),
  {
    name: 'operations_finished_total',
    type: 'counter',
    labels: ['status'],
    meaning: 'Operations that ended, by status',
    labelsOf: (status) => ({ status }),
    read: (source) => source.stats().hosts.map((host) => host.finished),
  },

  ofBrowsers('browser_contexts', 'Warm browser contexts', (browser) => browser.contexts),
  ofBrowsers('browser_pages', 'Open pages', (browser) => browser.pages),
  ofBrowsers('browser_runs', 'Page programs under way', (browser) => browser.running),
  ofBrowsers('browser_runs_waiting', 'Page programs waiting for a slot', (browser) => browser.queued),
  ofEachBrowser(
    'browser_memory_mib',
    'Memory of the Chromium of a browser thread with all its processes, in MiB (proportional set size)',
    (browser) => browser.memory_mib,
  ),
  ofEachBrowser(
    'browser_warm_pages',
    'Pages a browser thread keeps open for the next run of their session',
    (browser) => browser.warm_pages,
  ),
  counter('browser_restarts_total', 'Browsers replaced', (source) =>
    source.stats().browsers.map((browser) => browser.restarts),
  ),
];

function ofHosts(name: string, meaning: string, read: (host: HostStats) => number): GaugeMetric {
  return gauge(name, meaning, (source) => sum(source.stats().hosts, read));
}

function ofBrowsers(name: string, meaning: string, read: (browser: BrowserStats) => number): GaugeMetric {
  return gauge(name, meaning, (source) => sum(source.stats().browsers, read));
}

/** By the number of the thread, of which there are as many as BROWSER_THREADS sets. */
function ofEachBrowser(name: string, meaning: string, read: (browser: BrowserStats) => number): GaugeMetric {
  return {
    name,
    type: 'gauge',
    labels: ['thread'],
    meaning,
    read: (source) => source.stats().browsers.map((browser, thread) => ({ labels: { thread }, value: read(browser) })),
  };
}
