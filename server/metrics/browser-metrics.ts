import type { BrowserStats } from '../../browser-pool/messages.js';
import { counter, type GaugeMetric, gauge, sum, type ThreadMetric } from './metric.js';

/** What the browser threads hold and did. */
export const BROWSER_METRICS: readonly ThreadMetric[] = [
  ofBrowsers(
    {
      name: 'browser_contexts',
      meaning: 'Warm browser contexts',
      bad: 'At `BROWSER_CONTEXTS` times the threads: sessions are opened again and again.',
    },
    (browser) => browser.contexts,
  ),
  ofBrowsers(
    {
      name: 'browser_pages',
      meaning: 'Open pages',
      bad: 'Growth without `browser_runs`: pages are left open.',
    },
    (browser) => browser.pages,
  ),
  ofBrowsers(
    {
      name: 'browser_runs',
      meaning: 'Page programs under way',
      bad: '0 while `browser_runs_waiting` is not: the browsers do nothing.',
    },
    (browser) => browser.running,
  ),
  ofBrowsers(
    {
      name: 'browser_runs_waiting',
      meaning: 'Page programs waiting for a slot',
      bad: 'Above 0 for minutes: more browser threads, or another node, are needed.',
    },
    (browser) => browser.queued,
  ),
  ofEachBrowser(
    {
      name: 'browser_memory_bytes',
      meaning: 'Memory of the Chromium of a browser thread with all its processes (proportional set size)',
      bad: 'Above 1.5 GiB: the browser is about to be replaced; what the machine has must be more than all of them.',
    },
    (browser) => browser.memory_mib * 2 ** 20,
  ),
  ofEachBrowser(
    {
      name: 'browser_warm_pages',
      meaning: 'Pages a browser thread keeps open for the next run of their session',
      bad: 'None by itself.',
    },
    (browser) => browser.warm_pages,
  ),
  counter(
    {
      name: 'browser_restarts_total',
      meaning: 'Browsers replaced',
      bad: 'More than a few an hour a thread: browsers crash, hang or outgrow their memory.',
    },
    (source) => source.stats().browsers.map((browser) => browser.restarts),
  ),
];

type Plain = Parameters<typeof gauge>[0];

function ofBrowsers(plain: Plain, read: (browser: BrowserStats) => number): GaugeMetric {
  return gauge(plain, (source) => sum(source.stats().browsers, read));
}

/** By the number of the thread, of which there are as many as BROWSER_THREADS sets. */
function ofEachBrowser(plain: Plain, read: (browser: BrowserStats) => number): GaugeMetric {
  return {
    ...plain,
    type: 'gauge',
    labels: ['thread'],
    read: (source) => source.stats().browsers.map((browser, thread) => ({ labels: { thread }, value: read(browser) })),
  };
}
